"""The keeper's duties: renewing, carrying, sweeping; each thread goes to one sweeper."""

from datetime import timedelta
from typing import Any

import pytest
from kombu import pools

from agentadmin.access.actor import Actor
from agentadmin.celery import app
from agentadmin.engine.agents.interrupt import InterruptControl, InterruptSource
from agentadmin.engine.clock import now
from agentadmin.engine.journal.base import Lease
from runs_app import dispatch as dispatching
from runs_app.claims import any_stranded, claim_workable, release, renew_all, take_stranded
from runs_app.desk import Desk
from runs_app.keeper import Keeper
from runs_app.services.submit import submit_turn
from sessions_app import mailbox
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.states import ControlKind
from tests.runs.conftest import Work

pytestmark = pytest.mark.django_db(transaction=True)


def age(thread: AgentThread, **seconds: float) -> None:
    """Set times of the thread's row so many seconds back."""
    moved = {name: now() - timedelta(seconds=back) for name, back in seconds.items()}
    AgentThread.objects.filter(id=thread.id).update(**moved)


def test_only_what_can_go_on_is_claimed_and_only_once(thread: AgentThread, actor: Actor) -> None:
    id_ = str(thread.id)
    assert claim_workable(id_, "a", 10) is None
    submit_turn(actor=actor, thread=thread, input="hi")
    epoch = claim_workable(id_, "a", 10)
    assert epoch == 1
    assert claim_workable(id_, "b", 10) is None
    assert release(id_, 1)
    assert not release(id_, 1)
    assert claim_workable(id_, "b", 10) == 2


def test_a_lost_message_is_noticed_after_its_grace_by_one_sweeper(
    thread: AgentThread, actor: Actor
) -> None:
    submit_turn(actor=actor, thread=thread, input="hi")
    assert not any_stranded()
    age(thread, runnable_since=3)
    assert any_stranded()
    assert take_stranded() == [str(thread.id)]
    assert take_stranded() == []
    age(thread, dispatched_at=3)
    assert take_stranded(30) == []
    assert take_stranded() == [str(thread.id)]


def test_a_dead_workers_thread_is_taken_at_once_and_a_live_ones_never(
    thread: AgentThread, actor: Actor
) -> None:
    submit_turn(actor=actor, thread=thread, input="hi")
    assert claim_workable(str(thread.id), "a", 10)
    age(thread, runnable_since=100)
    assert take_stranded() == []
    age(thread, lease_until=0.1)
    assert take_stranded() == [str(thread.id)]


def test_a_control_on_an_idle_thread_is_settled_by_whoever_sweeps(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.INTERRUPT, actor=actor, reason="late"
    )
    assert take_stranded() == [str(thread.id)]
    work(thread)
    control.refresh_from_db()
    assert (control.state, AgentThread.objects.get().pending_controls) == ("refused", 0)


def test_a_lost_lease_stops_the_run(thread: AgentThread, actor: Actor) -> None:
    submit_turn(actor=actor, thread=thread, input="hi")
    id_ = str(thread.id)
    epoch = claim_workable(id_, "a", 10) or 0
    desk, control = Desk(thread_ref(thread), Lease("a", epoch)), InterruptControl()
    keeper = Keeper("a")
    with keeper.holding(desk):
        desk.begin(control, "t", {"r"})
        keeper.renew()
        assert control.signal is None
        AgentThread.objects.filter(id=id_).update(lease_epoch=epoch + 1)
        keeper.renew()
    assert control.signal is not None
    assert control.signal.source is InterruptSource.FENCED
    assert desk.fenced
    assert renew_all({id_: epoch + 1}, 10) == {id_}


def test_a_control_reaches_the_run_that_it_is_for_once(thread: AgentThread, actor: Actor) -> None:
    desk, control = Desk(thread_ref(thread), Lease("a", 1)), InterruptControl()
    keeper = Keeper("a")
    with keeper.holding(desk):
        desk.begin(control, "t", {"r"})
        for run_id in ("another", "r"):
            mailbox.request_control(
                thread=thread, kind=ControlKind.INTERRUPT, actor=actor, reason=run_id, run_id=run_id
            )
        keeper.carry_controls()
    assert control.signal is not None
    assert control.signal.reason == "r"
    assert [c.reason for c in desk.stops] == ["r"]
    assert set(ControlRequest.objects.values_list("state", flat=True)) == {"delivered"}


def test_a_settled_control_that_is_read_late_is_left_alone(
    thread: AgentThread, actor: Actor
) -> None:
    desk = Desk(thread_ref(thread), Lease("a", 1))
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.EDIT, actor=actor, reason="x", payload={"operations": []}
    )
    desk.receive([control])
    desk.forget([control])
    desk.receive([control])
    assert desk.controls == []


def test_a_thread_with_many_turns_lets_others_in_between(
    thread: AgentThread, actor: Actor, work: Work, no_messages: list[str]
) -> None:
    for n in range(12):
        submit_turn(actor=actor, thread=thread, input=f"/echo {n}")
    no_messages.clear()
    work(thread)
    assert AgentThread.objects.get().queued_turns == 2
    assert no_messages == [str(thread.id)]
    work(thread)
    assert AgentThread.objects.get().status == "idle"


def test_a_backlog_is_seen(redis_client: Any) -> None:
    assert not dispatching.has_backlog()
    app.send_task(dispatching.EXECUTE, args=("nobody",), ignore_result=True)
    assert dispatching.has_backlog()
    # Later tests of this process make pools of their own.
    pools.reset()
    app._pool = app.amqp._producer_pool = None
