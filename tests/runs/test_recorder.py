"""Rows are what the facts say: live commits, rebuilds, and sequences that the table forbids."""

from random import Random

import pytest
from django.forms.models import model_to_dict

from agentadmin.engine.errors import (
    AgentAdminError,
    AlreadyDecided,
    InputPending,
    TurnFinished,
    TurnPaused,
)
from agentadmin.engine.identity import ThreadKey, new_id
from agentadmin.engine.journal.base import Batch, CommitKind, ThreadRef
from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.models import Interaction, Run, Turn
from runs_app.recorder import Recorder, folded, rebuild
from runs_app.rows import INTERACTIONS, RUNS, THREADS, TURNS
from runs_app.schemas import turn_item
from runs_app.states import MOVES, TERMINAL, TurnState
from sessions_app.journal import DjangoThreadJournal
from sessions_app.models import AgentSession, AgentThread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def journal() -> DjangoThreadJournal:
    return DjangoThreadJournal(projector=Recorder())


def thread_of(journal: DjangoThreadJournal) -> ThreadRef:
    from asgiref.sync import async_to_sync

    return async_to_sync(journal.ensure)(ThreadKey("default", None, new_id(), "demo"))


def put(journal: DjangoThreadJournal, ref: ThreadRef, *facts: NewFact) -> None:
    journal.commit_now(ref, Batch(CommitKind.QUEUE, [fact.seal() for fact in facts]))


def start(turn: str, text: str = "hi") -> NewFact:
    message = {"id": turn, "role": "USER", "content": [{"type": "text", "text": text}]}
    by = {"name": "ann", "kind": "user"}
    return NewFact(FactType.TURN_START, {"request_id": turn, "input": [message], "by": by}, turn)


def run(turn: str, id_: str, attempt: int = 1) -> NewFact:
    payload = {"attempt": attempt, "worker": "w", "agent": None, "why": "admitted"}
    return NewFact(FactType.RUN_START, payload, turn, id_)


def end(turn: str, id_: str, status: str = "completed") -> NewFact:
    usage = {"input": 3, "output": 4, "calls": 1}
    return NewFact(FactType.RUN_END, {"status": status, "reason": None, "usage": usage}, turn, id_)


def asks(turn: str, id_: str) -> NewFact:
    payload = {
        "interaction_id": id_,
        "kind": "approval",
        "call_id": "c",
        "tool": "create_order",
        "input": {"sku": "\x00\ud800"},
        "call_hash": "h",
        "suggested_rules": [],
        "because": "mode",
        "message": "?",
        "expires_at": None,
    }
    return NewFact(FactType.INTERACTION_REQUESTED, payload, turn, "r")


def answered(id_: str, decision: str = "approve", turn: str | None = None) -> NewFact:
    payload = {"interaction_id": id_, "decision": decision, "by": {"name": "bob"}, "reason": None}
    return NewFact(FactType.INTERACTION_RESOLVED, payload, turn)


def suspended(turn: str, kind: str, *ids: str) -> NewFact:
    return NewFact(FactType.TURN_SUSPENDED, {"wait": {"kind": kind, "ids": list(ids)}}, turn, "r")


def paused(turn: str) -> NewFact:
    return NewFact(FactType.TURN_PAUSED, {"by": None, "reason": None}, turn)


def resumed(turn: str, to: str | None = None) -> NewFact:
    return NewFact(FactType.TURN_RESUMED, {"why": "resumed", "to": to, "by": None}, turn)


def told(turn: str) -> NewFact:
    return NewFact(FactType.INPUT_RECEIVED, {"input": [], "by": None, "control_id": None}, turn)


def read(turn: str, seq: int) -> NewFact:
    return NewFact(FactType.INPUT_APPLIED, {"seq": seq, "control_id": None}, turn, "r")


def completed(turn: str, outcome: str = "done") -> NewFact:
    return NewFact(FactType.TURN_COMPLETED, {"outcome": outcome, "reply": "m"}, turn, "r")


def head(ref: ThreadRef) -> AgentThread:
    return AgentThread.objects.get(id=ref.id)


def test_a_turn_runs_from_the_queue_to_its_end(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t1", "hello \x00 there"))
    put(journal, ref, start("t2"))
    assert (head(ref).status, head(ref).queued_turns, head(ref).active_turn_id) == (
        "queued",
        2,
        "t1",
    )
    put(journal, ref, run("t1", "r1"))
    assert head(ref).queued_turns == 1
    assert head(ref).active_run_id == "r1"
    assert AgentSession.objects.get().status == "running"
    put(journal, ref, completed("t1"), end("t1", "r1"))
    turn, thread = Turn.objects.get(id="t1"), head(ref)
    assert (turn.state, turn.outcome, turn.revision, turn.attempts) == ("completed", "done", 3, 1)
    assert turn.input_preview == "hello \ufffd there"
    assert (thread.status, thread.active_turn_id, thread.active_run_id) == ("queued", "t2", None)
    assert thread.runnable_since == turn.ended_at
    assert (thread.tokens, AgentSession.objects.get().tokens) == (7, 7)


def test_a_thread_can_go_on_when_every_question_is_answered(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), run("t", "r"))
    put(journal, ref, asks("t", "i1"), asks("t", "i2"), suspended("t", "approval", "i1", "i2"))
    assert (head(ref).status, head(ref).pending_interactions) == ("waiting", 2)
    put(journal, ref, answered("i1"))
    assert head(ref).runnable_since is None
    put(journal, ref, answered("i2", "deny"))
    assert head(ref).runnable_since is not None
    assert AgentSession.objects.get().pending == 0
    assert {i.id: i.status for i in Interaction.objects.all()} == {"i1": "approved", "i2": "denied"}


def test_a_second_answer_names_the_first_one(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), run("t", "r"), asks("t", "i"), suspended("t", "approval", "i"))
    put(journal, ref, answered("i"))
    before = head(ref).head_seq
    with pytest.raises(AlreadyDecided) as refused:
        put(journal, ref, answered("i", "deny"))
    assert refused.value.by == "bob"
    assert head(ref).head_seq == before


def test_recorded_outcomes_end_the_wait_for_them(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), run("t", "r"), suspended("t", "reconcile", "c1"), end("t", "r"))
    assert head(ref).runnable_since is None
    repairs = [{"kind": "reconciled", "call_id": "c1", "note": "it was done"}]
    put(journal, ref, NewFact(FactType.RECOVERY_APPLIED, {"repairs": repairs}, "t"))
    assert head(ref).runnable_since is not None


def test_a_turn_is_not_done_before_it_has_read_what_it_was_told(
    journal: DjangoThreadJournal,
) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), run("t", "r"), told("t"))
    with pytest.raises(InputPending) as refused:
        put(journal, ref, completed("t"), end("t", "r"))
    assert refused.value.seqs == [3]
    put(journal, ref, read("t", 3), completed("t"), end("t", "r"))
    assert Turn.objects.get().outcome == "done"


def test_a_paused_turn_leads_the_queue_and_no_run_begins_on_it(
    journal: DjangoThreadJournal,
) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t1"), start("t2"), start("t3"), paused("t2"), run("t1", "r"))
    assert (head(ref).active_turn_id, head(ref).queued_turns) == ("t1", 2)
    put(journal, ref, completed("t1"), end("t1", "r"))
    assert (head(ref).active_turn_id, head(ref).status) == ("t2", "paused")
    assert head(ref).runnable_since is None
    with pytest.raises(TurnPaused):
        put(journal, ref, run("t2", "r2"))
    put(journal, ref, resumed("t2", "queued"))
    assert (head(ref).status, head(ref).queued_turns) == ("queued", 2)
    assert head(ref).runnable_since is not None


def test_a_turn_that_ended_does_not_move_again(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), NewFact(FactType.TURN_CANCELLED, {"by": None}, "t"))
    assert head(ref).queued_turns == 0
    with pytest.raises(TurnFinished):
        put(journal, ref, run("t", "r"))
    assert not Run.objects.exists()


def test_an_error_of_any_length_is_shown_with_its_code(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    for length in (1000, 1960, 1999, 2000, 5000):
        turn, run_id = f"t{length}", f"r{length}"
        error = {"code": "model_error", "detail": "}" * length}
        failed = NewFact(FactType.TURN_FAILED, {"outcome": "error", "error": error}, turn, run_id)
        put(journal, ref, start(turn), run(turn, run_id))
        put(journal, ref, failed, end(turn, run_id, "failed"))
        shown = turn_item(Turn.objects.get(id=turn))["error"]
        assert (shown["code"], shown["detail"]) == ("model_error", "}" * min(length, 1000))
    Turn.objects.filter(id="t5000").update(error='{"code": "cut}')
    assert turn_item(Turn.objects.get(id="t5000"))["error"]["detail"] == '{"code": "cut}'


@pytest.mark.parametrize("claimed", [-5, 10**30, None, 2**63])
def test_absurd_counts_of_tokens_are_no_reason_to_fail(
    journal: DjangoThreadJournal, claimed: int | None
) -> None:
    ref = thread_of(journal)
    put(journal, ref, start("t"), run("t", "r"))
    usage = {"input": claimed, "output": claimed, "calls": 1}
    ended = NewFact(FactType.RUN_END, {"status": "completed", "usage": usage}, "t", "r")
    put(journal, ref, completed("t"), ended)
    assert 0 <= Run.objects.get().tokens_in <= head(ref).tokens <= 2 * 10**9


def test_a_failed_turn_leaves_its_error_on_turn_and_run(journal: DjangoThreadJournal) -> None:
    ref = thread_of(journal)
    error = {"code": "model_error", "detail": "no such model \x00"}
    failed = NewFact(FactType.TURN_FAILED, {"outcome": "error", "error": error}, "t", "r")
    put(journal, ref, start("t"), run("t", "r"), failed, end("t", "r", "failed"))
    assert head(ref).status == "failed"
    assert Run.objects.get().first_error == "no such model \ufffd"


def random_fact(random: Random, turns: list[str], runs: list[str], asked: list[str]) -> NewFact:
    """One fact, sensible or not."""
    turn = random.choice([*turns, "nobody"][-4:])
    run_id = (runs or ["none"])[-1]
    asked_id = random.choice([*asked, "nothing"])
    choice = random.randrange(14)
    if choice < 2:
        turns.append(new_id())
        return start(turns[-1])
    if choice < 4:
        runs.append(new_id())
        return run(turn, runs[-1], random.randint(1, 3))
    if choice == 4:
        asked.append(new_id())
        return asks(turn, asked[-1])
    stop = {"kind": random.choice(["cancel", "pause"]), "control_id": "c"}
    error = {"code": "model_error", "detail": "d"}
    return [
        answered(asked_id, random.choice(["approve", "deny", "cancelled"]), turn),
        suspended(turn, random.choice(["approval", "reconcile"]), asked_id),
        NewFact(FactType.TURN_RESUMED, {"why": "answered"}, turn, run_id),
        NewFact(FactType.RUN_STOP_REQUESTED, stop, turn, run_id),
        NewFact(FactType.TURN_FAILED, {"outcome": "error", "error": error}, turn, run_id),
        completed(turn),
        random.choice([end(turn, run_id), NewFact(FactType.TURN_CANCELLED, {"by": None}, turn)]),
        random.choice([paused(turn), resumed(turn, random.choice([None, "queued", "waiting"]))]),
        random.choice([told(turn), read(turn, random.randint(1, 40))]),
    ][choice - 5]


@pytest.mark.parametrize("seed", range(12))
def test_rows_equal_what_the_facts_rebuild(journal: DjangoThreadJournal, seed: int) -> None:
    random, ref = Random(seed), thread_of(journal)
    turns: list[str] = []
    runs: list[str] = []
    asked: list[str] = []
    known: dict[str, str] = {}
    for _ in range(60):
        facts = [random_fact(random, turns, runs, asked) for _ in range(random.choice([1, 1, 2]))]
        try:
            put(journal, ref, *facts)
        except AgentAdminError:
            continue
        states = dict(Turn.objects.values_list("id", "state"))
        for id_, state in states.items():
            assert_reachable(known.get(id_, "queued"), state, len(facts))
        known = states
    book = folded(ref.id)
    assert database_rows(ref) == (book.thread, book.turns, book.runs, book.interactions)
    before = everything()
    rebuild(ref.id)
    assert everything() == before


def assert_reachable(before: str, after: str, steps: int) -> None:
    """Within so many facts the table leads from one state to the other."""
    reached = {TurnState(before)}
    for _ in range(steps):
        reached |= {target for state in reached for target in MOVES[state].values()}
    assert TurnState(after) in reached
    assert before == after or TurnState(before) not in TERMINAL


def database_rows(ref: ThreadRef) -> tuple[object, ...]:
    """The rows of the database as the fold's values."""
    from django.db import connection

    from sessions_app.journal.sql import dialect

    words = dialect("default")
    found: list[object] = []
    with connection.cursor() as cursor:
        for table, where in ((THREADS, "id"), (TURNS, "thread_id"), (RUNS, "thread_id")):
            found.append(table_rows(cursor, words, table, where, ref))
        found.append(table_rows(cursor, words, INTERACTIONS, "thread_id", ref))
    return (found[0][ref.id], *found[1:])  # type: ignore[index]


def table_rows(cursor, words, table, where, ref):  # type: ignore[no-untyped-def]
    cursor.execute(
        f"SELECT {table.selected('t')} FROM {table.name} t WHERE {where} = %s", [words.uuid(ref.id)]
    )
    rows = [table.read(words, values) for values in cursor.fetchall()]
    return {row.id: row for row in rows}


def everything() -> list[dict[str, object]]:
    """Every projected row, as dictionaries."""
    models = (AgentThread, Turn, Run, Interaction)
    return [model_to_dict(row) for model in models for row in model.objects.order_by("id")]


def test_the_table_knows_every_state_and_ends_never_move() -> None:
    assert set(MOVES) == set(TurnState)
    assert all(not MOVES[state] for state in TERMINAL)
