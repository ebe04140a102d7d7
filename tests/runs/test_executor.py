"""Turns from submission to their end, executed in this process by the real executor."""

import pytest
from asgiref.sync import async_to_sync

from agentadmin.access.actor import Actor
from agentadmin.engine.journal.loading import load
from runs_app.models import DemoOrder, Interaction, Run
from runs_app.recorder import folded, make_journal
from runs_app.selectors.interactions import open_interactions
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread, JournalFact
from tests.runs.conftest import Work, turn_of

pytestmark = pytest.mark.django_db(transaction=True)


def texts(thread: AgentThread) -> list[str]:
    state = async_to_sync(load)(make_journal(), thread_ref(thread)).state()
    return [message.text for message in state.context]


def test_a_submitted_turn_is_answered(thread: AgentThread, actor: Actor, work: Work) -> None:
    receipt = submit_turn(actor=actor, thread=thread, input="/echo hello", request_id="r1")
    assert (receipt.state, receipt.position, receipt.duplicate) == ("queued", 0, False)
    work(thread)
    turn = turn_of(receipt.turn_id)
    assert (turn.state, turn.outcome, turn.attempts) == ("completed", "done", 1)
    assert texts(thread) == ["/echo hello", "hello"]
    thread.refresh_from_db()
    assert (thread.status, thread.lease_owner, thread.lease_until) == ("idle", None, None)
    types = list(JournalFact.objects.order_by("seq").values_list("type", flat=True))
    assert types[0] == "turn/start"
    assert types[-2:] == ["turn/completed", "run/end"]


def test_turns_run_in_the_order_of_their_acceptance(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    for n in range(4):
        receipt = submit_turn(actor=actor, thread=thread, input=f"/echo {n}")
        assert receipt.position == n
    work(thread)
    assert texts(thread)[1::2] == ["0", "1", "2", "3"]


def test_a_redelivered_message_finds_nothing_to_claim(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    submit_turn(actor=actor, thread=thread, input="/echo once")
    work(thread)
    epoch = AgentThread.objects.get(id=thread.id).lease_epoch
    work(thread)
    assert AgentThread.objects.get(id=thread.id).lease_epoch == epoch
    assert Run.objects.count() == 1


def test_an_approved_call_goes_on_and_orders_once(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    call = '/tool create_order {"sku": "tea", "quantity": 2}'
    receipt = submit_turn(actor=actor, thread=thread, input=call)
    work(thread)
    asked = open_interactions(thread)
    assert [turn_of(receipt.turn_id).state, len(asked)] == ["waiting", 1]
    thread.refresh_from_db()
    assert (thread.status, thread.lease_owner) == ("waiting", None)
    answered = respond_interaction(
        actor=actor,
        interaction_id=asked[0].id,
        decision="approve",
        call_hash=asked[0].call_hash,
        request_id="a",
    )
    assert answered.state == "waiting"
    work(thread)
    assert turn_of(receipt.turn_id).outcome == "done"
    order = DemoOrder.objects.get()
    assert (order.sku, order.quantity, order.times_asked) == ("tea", 2, 1)
    assert "create_order returned: order A-" in texts(thread)[-1]
    assert Run.objects.count() == 2
    assert Interaction.objects.get().status == "approved"


def test_a_question_is_answered_in_words(thread: AgentThread, actor: Actor, work: Work) -> None:
    submit_turn(actor=actor, thread=thread, input='/tool ask_user {"question": "Which?"}')
    work(thread)
    asked = open_interactions(thread)[0]
    assert asked.kind == "question"
    respond_interaction(
        actor=actor,
        interaction_id=asked.id,
        decision="answer",
        call_hash=asked.call_hash,
        answer="the blue one",
    )
    work(thread)
    assert texts(thread)[-1] == "ask_user returned: the blue one"


def test_a_failing_model_fails_the_turn_and_the_next_one_runs(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    first = submit_turn(actor=actor, thread=thread, input="/fail permanent")
    second = submit_turn(actor=actor, thread=thread, input="/echo still here")
    work(thread)
    assert turn_of(first.turn_id).state == "failed"
    assert turn_of(first.turn_id).error is not None
    assert turn_of(second.turn_id).outcome == "done"


def test_an_unknown_agent_waits_for_its_definition(actor: Actor, work: Work) -> None:
    from tests.runs.conftest import new_thread

    thread = new_thread(actor, "nobody-defined-me")
    receipt = submit_turn(actor=actor, thread=thread, input="hi")
    work(thread)
    turn = turn_of(receipt.turn_id)
    assert (turn.state, turn.wait_kind) == ("waiting", "definition")
    assert AgentThread.objects.get(id=thread.id).lease_owner is None


def test_the_rows_of_executed_turns_equal_their_facts(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    for text in ("/echo a", "/fail permanent", '/tool calculator {"expression": "6*7"}'):
        submit_turn(actor=actor, thread=thread, input=text)
    work(thread)
    book = folded(str(thread.id))
    row = AgentThread.objects.get(id=thread.id)
    assert (book.thread.status, book.thread.tokens, book.thread.turns) == (
        row.status,
        row.tokens,
        row.turns,
    )
    assert {t.id: t.state for t in book.turns.values()} == {
        r.turn_id: turn_of(r.turn_id).state for r in Run.objects.all()
    }
