"""Pausing and going on: what is queued, what runs, what waits, and what comes too late."""

import pytest
from asgiref.sync import async_to_sync

from agentadmin.access.actor import Actor
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.errors import (
    Conflict,
    IdempotencyMismatch,
    StaleRevision,
    TurnFinished,
)
from agentadmin.engine.state import codec
from runs_app.keeper import Keeper
from runs_app.models import DemoOrder, Run
from runs_app.recorder import folded
from runs_app.selectors.interactions import open_interactions
from runs_app.services.cancel import cancel_turn
from runs_app.services.pause import pause_turn, resume_turn
from runs_app.services.receipts import Receipt
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from runs_app.verdicts import NO_STEP_LEFT
from sessions_app.models import AgentThread, ControlRequest, JournalFact
from tests.runs.conftest import Start, Work, turn_of
from tests.runs.test_controls import free, parked_on_unknown_order, running, texts
from tests.services.product import until

pytestmark = pytest.mark.django_db(transaction=True)

TWO_STEPS = '/tool sleep {"seconds": 0.4}'


def submit(actor: Actor, thread: AgentThread, text: str) -> str:
    return submit_turn(actor=actor, thread=thread, input=text).turn_id or ""


def resume(actor: Actor, turn_id: str) -> Receipt:
    return resume_turn(actor=actor, turn_id=turn_id, revision=turn_of(turn_id).revision)


def head(thread: AgentThread) -> AgentThread:
    return AgentThread.objects.get(id=thread.id)


def dispatched(thread: AgentThread) -> bool:
    return JournalFact.objects.filter(thread=thread, type="tool/dispatch").exists()


def test_a_queued_turn_is_paused_at_once_and_holds_the_queue(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    first, second = submit(actor, thread, "/echo a"), submit(actor, thread, "/echo b")
    receipt = pause_turn(actor=actor, turn_id=first)
    assert (receipt.state, receipt.revision, receipt.control_id) == ("paused", 2, None)
    assert (head(thread).status, head(thread).queued_turns) == ("paused", 2)
    work(thread)
    assert (turn_of(first).state, turn_of(second).state) == ("paused", "queued")
    assert resume(actor, first).state == "queued"
    work(thread)
    assert [turn_of(t).outcome for t in (first, second)] == ["done", "done"]
    assert texts(thread) == ["/echo a", "a", "/echo b", "b"]


def test_a_paused_turn_keeps_its_place_behind_the_one_that_runs(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    first, second, third = (submit(actor, thread, f"/echo {x}") for x in "abc")
    pause_turn(actor=actor, turn_id=second)
    work(thread)
    assert [turn_of(t).state for t in (first, second, third)] == ["completed", "paused", "queued"]
    assert (head(thread).status, head(thread).active_turn_id) == ("paused", second)
    assert free(thread)
    assert cancel_turn(actor=actor, turn_id=second, reason="not this one").state == "cancelled"
    work(thread)
    assert texts(thread) == ["/echo a", "a", "/echo c", "c"]
    assert (head(thread).status, head(thread).queued_turns) == ("idle", 0)


def test_a_run_pauses_between_its_steps_and_its_tool_is_not_cut(
    thread: AgentThread, actor: Actor, work: Work, start: Start
) -> None:
    turn_id = submit(actor, thread, TWO_STEPS)
    behind = submit(actor, thread, "/echo next")
    start(thread)
    until(lambda: dispatched(thread), "the tool runs")
    receipt = pause_turn(actor=actor, turn_id=turn_id, reason="wait for the meeting")
    assert receipt.state == "pausing"
    until(lambda: turn_of(turn_id).state == "paused", "the turn is paused")
    until(lambda: free(thread), "the worker has let go")
    assert Run.objects.get().status == "suspended"
    assert texts(thread)[-1] == ""
    assert (turn_of(behind).state, head(thread).status) == ("queued", "paused")
    control = ControlRequest.objects.get(id=receipt.control_id)
    assert control.state == "effective"
    times = [control.requested_at, control.delivered_at, control.acknowledged_at]
    assert [*times, control.effective_at] == sorted([*times, control.effective_at])  # type: ignore[type-var]
    assert resume(actor, turn_id).state == "running"
    work(thread)
    assert (turn_of(turn_id).outcome, turn_of(turn_id).attempts) == ("done", 2)
    assert texts(thread)[3].startswith("sleep returned")
    assert turn_of(behind).outcome == "done"
    assert list(Run.objects.order_by("start_seq").values_list("why", flat=True)) == [
        "admitted",
        "resumed",
        "admitted",
    ]


def test_a_turn_that_ends_first_refuses_the_pause(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn_id = submit(actor, thread, "/slow 12 20")
    start(thread)
    running(thread)
    receipt = pause_turn(actor=actor, turn_id=turn_id)
    until(lambda: turn_of(turn_id).state == "completed", "the turn is done")
    until(lambda: free(thread), "the worker has let go")
    control = ControlRequest.objects.get(id=receipt.control_id)
    assert (control.state, head(thread).pending_controls) == ("refused", 0)
    told = codec.loads(control.result)
    assert told["code"] == "turn_finished"
    assert told["detail"] == NO_STEP_LEFT
    with pytest.raises(TurnFinished):
        pause_turn(actor=actor, turn_id=turn_id)


def test_a_waiting_turn_keeps_its_question_while_it_is_paused(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn_id = submit(actor, thread, '/tool create_order {"sku": "tea"}')
    work(thread)
    assert pause_turn(actor=actor, turn_id=turn_id).state == "paused"
    assert turn_of(turn_id).wait_kind == "approval"
    assert resume(actor, turn_id).state == "waiting"
    assert head(thread).runnable_since is None
    pause_turn(actor=actor, turn_id=turn_id)
    (asked,) = open_interactions(thread)
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="approve", call_hash=asked.call_hash
    )
    assert head(thread).runnable_since is None
    work(thread)
    assert not DemoOrder.objects.exists()
    assert resume(actor, turn_id).state == "running"
    work(thread)
    assert turn_of(turn_id).outcome == "done"
    assert DemoOrder.objects.get().times_asked == 1


def test_an_answer_that_came_before_the_pause_is_taken_when_it_is_over(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn_id = submit(actor, thread, '/tool create_order {"sku": "tea"}')
    work(thread)
    (asked,) = open_interactions(thread)
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="deny", call_hash=asked.call_hash
    )
    pause_turn(actor=actor, turn_id=turn_id)
    work(thread)
    assert turn_of(turn_id).state == "paused"
    resume(actor, turn_id)
    work(thread)
    assert turn_of(turn_id).outcome == "done"
    assert not DemoOrder.objects.exists()


def test_an_unknown_outcome_is_recorded_while_the_turn_is_paused(
    thread: AgentThread, actor: Actor, work: Work, start: Start, keeper: Keeper
) -> None:
    turn_id = parked_on_unknown_order(thread, actor, work, start)
    keeper.shut_down()
    until(lambda: free(thread), "the worker has let go")
    keeper.stopping = False
    work(thread)
    pause_turn(actor=actor, turn_id=turn_id)
    call_id = DemoOrder.objects.get().call_id
    results = {call_id: {"output": "it is there"}}
    reconcile_tools(actor=actor, thread=thread, results=results, reason="looked it up")
    work(thread)
    assert turn_of(turn_id).state == "paused"
    assert resume(actor, turn_id).state == "running"
    work(thread)
    assert turn_of(turn_id).outcome == "done"
    assert DemoOrder.objects.get().times_asked == 1


def test_only_who_saw_the_newest_revision_may_resume(thread: AgentThread, actor: Actor) -> None:
    turn_id = submit(actor, thread, "/echo a")
    pause_turn(actor=actor, turn_id=turn_id)
    with pytest.raises(StaleRevision) as refused:
        resume_turn(actor=actor, turn_id=turn_id, revision=1)
    assert refused.value.extra() == {"revision": 2, "state": "paused"}
    assert resume_turn(actor=actor, turn_id=turn_id, revision=2).state == "queued"
    with pytest.raises(StaleRevision):
        resume_turn(actor=actor, turn_id=turn_id, revision=2)
    with pytest.raises(Conflict, match="not paused"):
        resume_turn(actor=actor, turn_id=turn_id, revision=3)


def test_a_repeated_command_is_the_same_command(thread: AgentThread, actor: Actor) -> None:
    turn_id = submit(actor, thread, "/echo a")
    first = pause_turn(actor=actor, turn_id=turn_id, request_id="p")
    again = pause_turn(actor=actor, turn_id=turn_id, request_id="p")
    assert (again.duplicate, again.state, again.revision) == (True, first.state, first.revision)
    with pytest.raises(IdempotencyMismatch):
        pause_turn(actor=actor, turn_id=turn_id, request_id="p", reason="another body")
    resume_turn(actor=actor, turn_id=turn_id, revision=2, request_id="r")
    assert resume_turn(actor=actor, turn_id=turn_id, revision=2, request_id="r").duplicate
    actions = AuditEntry.objects.order_by("n").values_list("action", flat=True)
    assert list(actions)[-2:] == ["turns.pause", "turns.resume"]


def test_a_dead_workers_turn_is_paused_by_its_successor(
    thread: AgentThread, actor: Actor, keeper: Keeper
) -> None:
    from runs_app.executor import execute
    from tests.runs.test_crashes import Bomb, Killed, bury

    turn_id = submit(actor, thread, TWO_STEPS)
    with pytest.MonkeyPatch.context() as patch:
        Bomb(patch, "tool/dispatch", before=False)
        with pytest.raises(Killed):
            async_to_sync(execute)(str(thread.id), keeper)
    receipt = pause_turn(actor=actor, turn_id=turn_id)
    assert receipt.state == "pausing"
    bury(thread)
    async_to_sync(execute)(str(thread.id), keeper)
    assert turn_of(turn_id).state == "paused"
    assert ControlRequest.objects.get(id=receipt.control_id).state == "effective"
    resume(actor, turn_id)
    async_to_sync(execute)(str(thread.id), keeper)
    assert turn_of(turn_id).outcome == "done"
    book = folded(str(thread.id))
    assert [r.status for r in book.runs.values()] == ["lost", "suspended", "completed"]


def test_a_pausing_turn_can_be_cancelled(thread: AgentThread, actor: Actor, start: Start) -> None:
    turn_id = submit(actor, thread, '/tool sleep {"seconds": 30}')
    start(thread)
    until(lambda: dispatched(thread), "the tool runs")
    paused = pause_turn(actor=actor, turn_id=turn_id)
    cancel_turn(actor=actor, turn_id=turn_id, reason="give it up")
    until(lambda: turn_of(turn_id).state == "cancelled", "the turn is cancelled")
    until(lambda: free(thread), "the worker has let go")
    assert ControlRequest.objects.get(id=paused.control_id).state == "refused"


def test_a_turn_that_is_paused_as_it_begins_does_not_begin(
    thread: AgentThread, actor: Actor, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runs_app.admitting import Head
    from tests.runs.test_controls import async_allowed

    turn_id = submit(actor, thread, "/echo a")
    begin = Head.admission

    def paused_first(head: Head, *args: object) -> object:
        admission = begin(head, *args)  # type: ignore[arg-type]
        # The lease is live, but the turn has not begun.
        pause_turn(actor=actor, turn_id=turn_id)
        return admission

    monkeypatch.setattr(Head, "admission", paused_first)
    with async_allowed():
        work(thread)
    assert turn_of(turn_id).state == "paused"
    assert not Run.objects.exists()
    monkeypatch.setattr(Head, "admission", begin)
    resume(actor, turn_id)
    work(thread)
    assert turn_of(turn_id).outcome == "done"


def test_a_turn_that_was_queued_before_a_clearing_keeps_its_text(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    from runs_app.executor import CACHE
    from sessions_app.services.update_state import update_agent_state

    submit(actor, thread, "/echo a")
    work(thread)
    queued = submit(actor, thread, "/echo b")
    pause_turn(actor=actor, turn_id=queued)
    update_agent_state(
        actor=actor, thread=thread, reason="tidy up", operations=[{"op": "clear_context"}]
    )
    CACHE._held.clear()
    resume(actor, queued)
    work(thread)
    assert turn_of(queued).outcome == "done"
    assert texts(thread) == ["/echo b", "b"]
