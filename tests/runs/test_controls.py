"""Interrupting, cancelling and reconciling: what runs, what waits, what nobody knows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agentadmin.access.actor import Actor
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.errors import (
    InvalidInput,
    MissingReason,
    NoActiveRun,
    ThreadBusy,
    TurnFinished,
)
from agentadmin.engine.journal.loading import load
from runs_app.admitting import Head
from runs_app.keeper import Keeper
from runs_app.models import DemoOrder, Interaction, Run
from runs_app.recorder import make_journal
from runs_app.selectors.interactions import open_interactions
from runs_app.services.cancel import cancel_turn
from runs_app.services.interrupt import interrupt_run, interrupt_session
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.services.update_state import update_agent_state
from tests.runs.conftest import Start, Work, turn_of
from tests.services.product import until

pytestmark = pytest.mark.django_db(transaction=True)


def texts(thread: AgentThread) -> list[str]:
    state = async_to_sync(load)(make_journal(), thread_ref(thread)).state()
    return [message.text for message in state.context]


def running(thread: AgentThread) -> str:
    """The id of the run that works on the thread, once there is one."""

    def look() -> str | None:
        return AgentThread.objects.get(id=thread.id).active_run_id

    return until(look, "a run is active") or ""


def state(turn_id: str | None) -> str:
    return turn_of(turn_id).state


def free(thread: AgentThread) -> bool:
    return AgentThread.objects.get(id=thread.id).lease_owner is None


def test_an_interrupt_stops_the_stream_and_keeps_what_was_said(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/slow 1000 20")
    after = submit_turn(actor=actor, thread=thread, input="/echo next")
    start(thread)
    receipt = interrupt_run(
        actor=actor, run_id=running(thread), reason="too long", message="be brief"
    )
    until(lambda: turn_of(after.turn_id).state == "completed", "the next turn is done")
    assert turn_of(turn.turn_id).outcome == "interrupted"
    control = ControlRequest.objects.get(id=receipt.control_id)
    assert control.state == "effective"
    times = [
        control.requested_at,
        control.delivered_at,
        control.acknowledged_at,
        control.effective_at,
    ]
    assert times == sorted(times)  # type: ignore[type-var]
    said = texts(thread)
    assert "I noticed that you have interrupted me. What can I do for you?" in said
    assert said[said.index("/echo next") - 1] == "be brief"
    assert Run.objects.get(id=receipt.run_id).status == "interrupted"


def test_nothing_running_says_how_many_turns_are_queued(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    submit_turn(actor=actor, thread=thread, input="/echo a")
    with pytest.raises(NoActiveRun) as refused:
        interrupt_session(actor=actor, session=thread.session, reason="stop")
    assert refused.value.queued_turns == 1
    work(thread)
    run = Run.objects.get()
    with pytest.raises(NoActiveRun):
        interrupt_run(actor=actor, run_id=run.id, reason="stop")
    with pytest.raises(MissingReason):
        interrupt_run(actor=actor, run_id=run.id, reason=" ")
    assert not ControlRequest.objects.exists()


def test_a_queued_turn_is_cancelled_at_once_and_never_runs(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    first = submit_turn(actor=actor, thread=thread, input="/echo a")
    second = submit_turn(actor=actor, thread=thread, input="/echo b")
    receipt = cancel_turn(actor=actor, turn_id=second.turn_id or "", reason="not needed")
    assert receipt.state == "cancelled"
    work(thread)
    assert (state(first.turn_id), state(second.turn_id)) == ("completed", "cancelled")
    assert texts(thread) == ["/echo a", "a"]
    with pytest.raises(TurnFinished):
        cancel_turn(actor=actor, turn_id=second.turn_id or "", reason="again")


def test_a_running_turn_is_cancelled_by_its_run(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/slow 1000 20")
    start(thread)
    running(thread)
    receipt = cancel_turn(
        actor=actor, turn_id=turn.turn_id or "", reason="wrong one", request_id="c"
    )
    assert receipt.state == "cancelling"
    until(lambda: state(turn.turn_id) == "cancelled", "the turn is cancelled")
    assert free(thread)
    assert ControlRequest.objects.get(id=receipt.control_id).state == "effective"
    assert Run.objects.get().status == "interrupted"
    again = cancel_turn(actor=actor, turn_id=turn.turn_id or "", reason="wrong one", request_id="c")
    assert again.duplicate


def test_a_waiting_turn_is_cancelled_with_its_questions(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "x"}')
    after = submit_turn(actor=actor, thread=thread, input="/echo next")
    work(thread)
    assert state(turn.turn_id) == "waiting"
    assert state(after.turn_id) == "queued"
    receipt = cancel_turn(actor=actor, turn_id=turn.turn_id or "", reason="changed my mind")
    assert receipt.state == "cancelled"
    assert Interaction.objects.get().status == "cancelled"
    work(thread)
    assert state(after.turn_id) == "completed"
    assert not DemoOrder.objects.exists()


def parked_on_unknown_order(thread: AgentThread, actor: Actor, work: Work, start: Start) -> str:
    """A turn whose order was sent when its worker vanished."""
    text = '/tool create_order {"sku": "x", "delay_after": 60}'
    turn = submit_turn(actor=actor, thread=thread, input=text)
    work(thread)
    asked = open_interactions(thread)[0]
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="approve", call_hash=asked.call_hash
    )
    start(thread)
    until(DemoOrder.objects.exists, "the order is recorded")
    return turn.turn_id or ""


def test_a_shut_down_worker_leaves_unknown_outcomes_to_a_person(
    thread: AgentThread, actor: Actor, work: Work, start: Start, keeper: Keeper
) -> None:
    turn_id = parked_on_unknown_order(thread, actor, work, start)
    keeper.shut_down()
    until(lambda: free(thread), "the worker has let go")
    keeper.stopping = False
    work(thread)
    turn = turn_of(turn_id)
    assert (turn.state, turn.wait_kind) == ("waiting", "reconcile")
    with pytest.raises(InvalidInput):
        reconcile_tools(actor=actor, thread=thread, results={}, reason="looked it up")
    call_id = DemoOrder.objects.get().call_id
    reconcile_tools(
        actor=actor,
        thread=thread,
        results={call_id: {"output": "order 7 is there"}},
        reason="looked it up",
    )
    work(thread)
    assert turn_of(turn_id).outcome == "done"
    assert texts(thread)[-1] == "create_order returned: order 7 is there"
    assert DemoOrder.objects.get().times_asked == 1


def test_cancelling_records_unknown_outcomes_as_unknown(
    thread: AgentThread, actor: Actor, work: Work, start: Start, keeper: Keeper
) -> None:
    turn_id = parked_on_unknown_order(thread, actor, work, start)
    keeper.shut_down()
    until(lambda: free(thread), "the worker has let go")
    keeper.stopping = False
    work(thread)
    assert cancel_turn(actor=actor, turn_id=turn_id, reason="leave it").state == "cancelled"
    projection = async_to_sync(load)(make_journal(), thread_ref(thread))
    assert not projection.uncertain


def test_an_edit_waits_for_the_run_and_is_applied_before_it_lets_go(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    submit_turn(actor=actor, thread=thread, input="/slow 20 20")
    start(thread)
    running(thread)
    thread = AgentThread.objects.select_related("session").get(id=thread.id)
    change = [{"op": "set_permission_mode", "mode": "dont_ask"}]
    with pytest.raises(ThreadBusy):
        update_agent_state(actor=actor, thread=thread, reason="tidy", operations=change)
    answer = update_agent_state(
        actor=actor, thread=thread, reason="tidy", operations=change, on_busy="wait"
    )
    assert answer.status == 202
    until(lambda: free(thread), "the run is over")
    control = ControlRequest.objects.get(id=answer.body["control_id"])
    assert control.state == "effective"
    projection = async_to_sync(load)(make_journal(), thread_ref(thread))
    assert projection.state().permission_context.mode == "dont_ask"


def test_every_command_leaves_one_audit_entry(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/echo a", request_id="same")
    assert submit_turn(actor=actor, thread=thread, input="/echo a", request_id="same").duplicate
    cancel_turn(actor=actor, turn_id=turn.turn_id or "", reason="no")
    actions = list(AuditEntry.objects.order_by("n").values_list("action", flat=True))
    assert actions == ["sessions.create", "turns.submit", "turns.cancel"]


def test_an_edit_may_interrupt_the_run_first(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/slow 1000 20")
    start(thread)
    running(thread)
    thread = AgentThread.objects.select_related("session").get(id=thread.id)
    answer = update_agent_state(
        actor=actor,
        thread=thread,
        reason="runaway",
        operations=[{"op": "clear_context"}],
        on_busy="interrupt",
    )
    assert answer.status == 200
    assert turn_of(turn.turn_id).outcome == "interrupted"
    assert texts(thread) == []
    until(lambda: free(thread), "the worker has let go")


def test_a_turn_that_is_cancelled_as_it_begins_never_begins(
    thread: AgentThread, actor: Actor, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = submit_turn(actor=actor, thread=thread, input="/echo a")
    after = submit_turn(actor=actor, thread=thread, input="/echo b")
    begin = Head.admission

    def cancelled_first(head: Head, *args: Any) -> Any:
        admission = begin(head, *args)
        if admission.turn_id == turn.turn_id:
            cancel_turn(actor=actor, turn_id=admission.turn_id, reason="just in time")
        return admission

    monkeypatch.setattr(Head, "admission", cancelled_first)
    # A queued turn is cancelled without entering a loop, so this may be done from within one.
    with async_allowed():
        work(thread)
    assert state(turn.turn_id) == "cancelled"
    assert turn_of(after.turn_id).outcome == "done"
    assert texts(thread) == ["/echo b", "b"]


@contextmanager
def async_allowed() -> Iterator[None]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    try:
        yield
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
