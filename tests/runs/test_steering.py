"""Steering: whatever a turn is told is read once, before it is done, or refused by name."""

import pytest
from asgiref.sync import async_to_sync

from agentadmin.access.actor import Actor
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.errors import IdempotencyMismatch, InvalidInput, TurnFinished
from runs_app.executor import CACHE, execute
from runs_app.keeper import Keeper
from runs_app.models import DemoOrder
from runs_app.recorder import folded
from runs_app.selectors.interactions import open_interactions
from runs_app.services.cancel import cancel_turn
from runs_app.services.interrupt import interrupt_session
from runs_app.services.pause import pause_turn, resume_turn
from runs_app.services.respond import respond_interaction
from runs_app.services.steer import steer_turn
from sessions_app.models import AgentThread, ControlRequest, JournalFact
from tests.runs.conftest import Start, Work, turn_of
from tests.runs.test_controls import free, running, texts
from tests.runs.test_crashes import Bomb, Killed, bury
from tests.runs.test_pausing import dispatched, submit
from tests.services.product import until

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = '/tool create_order {"sku": "tea"}'


def facts(thread: AgentThread, *types: str) -> list[JournalFact]:
    return list(JournalFact.objects.filter(thread=thread, type__in=types).order_by("seq"))


def test_what_a_running_turn_is_told_is_read_after_its_tool(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn_id = submit(actor, thread, '/tool sleep {"seconds": 0.6}')
    start(thread)
    until(lambda: dispatched(thread), "the tool runs")
    receipt = steer_turn(actor=actor, turn_id=turn_id, input="/echo steered")
    assert receipt.state == "running"
    until(lambda: turn_of(turn_id).state == "completed", "the turn is done")
    until(lambda: free(thread), "the worker has let go")
    said = texts(thread)
    assert said[3:] == ["/echo steered", "steered"]
    control = ControlRequest.objects.get(id=receipt.control_id)
    assert control.state == "effective"
    assert None not in (control.delivered_at, control.acknowledged_at, control.effective_at)
    (received,), (applied,) = facts(thread, "input/received"), facts(thread, "input/applied")
    message = facts(thread, "message/user")[1]
    assert received.seq < message.seq < applied.seq
    assert f'"seq":{received.seq}' in (message.payload or "")


def test_an_answer_given_before_everything_was_read_is_not_the_last_one(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn_id = submit(actor, thread, "/slow 25 20")
    start(thread)
    running(thread)
    first = steer_turn(actor=actor, turn_id=turn_id, input="/echo one")
    steer_turn(actor=actor, turn_id=turn_id, input=[{"type": "text", "text": "/echo two"}])
    until(lambda: turn_of(turn_id).state == "completed", "the turn is done")
    until(lambda: free(thread), "the worker has let go")
    said = texts(thread)
    assert said[1].endswith("word-25")
    assert said[2:] == ["/echo one", "/echo two", "two"]
    assert turn_of(turn_id).attempts == 1
    assert len(facts(thread, "turn/completed")) == 1
    assert ControlRequest.objects.get(id=first.control_id).state == "effective"
    assert turn_of(turn_id).steering == "[]"


def test_a_queued_turn_reads_it_as_it_begins(thread: AgentThread, actor: Actor, work: Work) -> None:
    turn_id = submit(actor, thread, "/echo a")
    receipt = steer_turn(actor=actor, turn_id=turn_id, input="/echo b")
    assert (receipt.state, receipt.control_id) == ("queued", None)
    work(thread)
    assert texts(thread) == ["/echo a", "/echo b", "b"]


def test_a_paused_and_a_waiting_turn_read_it_when_they_go_on(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn_id = submit(actor, thread, ORDER)
    work(thread)
    steer_turn(actor=actor, turn_id=turn_id, input="/echo one")
    pause_turn(actor=actor, turn_id=turn_id)
    steer_turn(actor=actor, turn_id=turn_id, input="/echo two")
    resume_turn(actor=actor, turn_id=turn_id, revision=turn_of(turn_id).revision)
    CACHE._held.clear()
    (asked,) = open_interactions(thread)
    respond_interaction(
        actor=actor, interaction_id=asked.id, decision="approve", call_hash=asked.call_hash
    )
    work(thread)
    said = texts(thread)
    assert said[3:] == ["/echo one", "/echo two", "two"]
    assert DemoOrder.objects.get().times_asked == 1
    assert turn_of(turn_id).outcome == "done"


def test_a_finished_turn_is_told_nothing(thread: AgentThread, actor: Actor, work: Work) -> None:
    turn_id = submit(actor, thread, "/echo a")
    work(thread)
    before = AgentThread.objects.get(id=thread.id).head_seq
    with pytest.raises(TurnFinished):
        steer_turn(actor=actor, turn_id=turn_id, input="late")
    with pytest.raises(InvalidInput):
        steer_turn(actor=actor, turn_id=turn_id, input=" ")
    assert AgentThread.objects.get(id=thread.id).head_seq == before


def test_what_an_interrupted_turn_has_not_read_is_refused(
    thread: AgentThread, actor: Actor, start: Start
) -> None:
    turn_id = submit(actor, thread, '/tool sleep {"seconds": 30}')
    start(thread)
    until(lambda: dispatched(thread), "the tool runs")
    receipt = steer_turn(actor=actor, turn_id=turn_id, input="be quick")
    interrupt_session(actor=actor, session=thread.session, reason="too slow")
    until(lambda: turn_of(turn_id).outcome == "interrupted", "the turn is interrupted")
    until(lambda: free(thread), "the worker has let go")
    control = ControlRequest.objects.get(id=receipt.control_id)
    assert control.state == "refused"
    assert "before it had read this" in control.result
    assert AgentThread.objects.get(id=thread.id).pending_controls == 0
    assert "be quick" not in texts(thread)


def test_a_repeated_text_is_told_once(thread: AgentThread, actor: Actor, work: Work) -> None:
    turn_id = submit(actor, thread, "/echo a")
    steer_turn(actor=actor, turn_id=turn_id, input="/echo b", request_id="s")
    assert steer_turn(actor=actor, turn_id=turn_id, input="/echo b", request_id="s").duplicate
    with pytest.raises(IdempotencyMismatch):
        steer_turn(actor=actor, turn_id=turn_id, input="/echo c", request_id="s")
    work(thread)
    assert texts(thread) == ["/echo a", "/echo b", "b"]
    entry = AuditEntry.objects.get(action="turns.steer")
    assert "/echo b" in (entry.body or "")


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_whatever_commit_a_worker_dies_around_the_text_is_read_once(
    before: bool, actor: Actor, keeper: Keeper
) -> None:
    from tests.runs.conftest import new_thread

    for at in range(1, 8):
        thread = new_thread(actor)
        turn_id = submit(actor, thread, '/tool calculator {"expression": "1"}')
        if at % 2:
            steer_turn(actor=actor, turn_id=turn_id, input="first this")
        with pytest.MonkeyPatch.context() as patch:
            bomb = Bomb(patch, at, before=before)
            try:
                async_to_sync(execute)(str(thread.id), keeper)
            except Killed:
                if turn_of(turn_id).ended_at is None:
                    steer_turn(actor=actor, turn_id=turn_id, input="/echo again")
        bury(thread)
        async_to_sync(execute)(str(thread.id), keeper)
        assert turn_of(turn_id).outcome == "done"
        assert len(facts(thread, "turn/completed")) == 1
        assert len(facts(thread, "input/applied")) == len(facts(thread, "input/received"))
        said = texts(thread)
        assert said.count("first this") == at % 2
        assert said.count("/echo again") == len(facts(thread, "input/received")) - at % 2
        assert folded(str(thread.id)).turns[turn_id].steering == "[]"
        assert AgentThread.objects.get(id=thread.id).pending_controls == 0
        if not bomb.exploded:
            assert at > 2
            return
    pytest.fail("it takes more commits")


def test_a_cancelled_turn_in_the_queue_reads_nothing(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    turn_id = submit(actor, thread, "/echo a")
    steer_turn(actor=actor, turn_id=turn_id, input="/echo b")
    cancel_turn(actor=actor, turn_id=turn_id, reason="not needed")
    after = submit(actor, thread, "/echo c")
    work(thread)
    assert turn_of(after).outcome == "done"
    assert texts(thread) == ["/echo c", "c"]
