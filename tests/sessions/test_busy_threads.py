"""Updates of a thread that a run holds: reject, wait, interrupt; and the controls behind them."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connections
from redis import Redis

from agentadmin.access.errors import Refused
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.errors import InvalidOperation, StaleVersion, StepUpRequired, ThreadBusy
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.codec import loads
from sessions_app import mailbox
from sessions_app.journal import configured
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.selectors.threads import state_at
from sessions_app.services import busy
from sessions_app.services.idempotency import Answer
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import ControlKind
from tests.services.product import until
from tests.sessions.conftest import make_thread, say
from tests.sessions.holding import RUN, Held
from tests.sessions.people import OPERATOR, person

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
DENY = {"op": "add_rule", "behavior": "deny", "tool_name": "execute", "source": "session"}


def update(thread: AgentThread, *operations: Any, **given: Any) -> Answer:
    wanted = {"actor": OPERATOR, "reason": "why", "operations": list(operations), **given}
    return update_agent_state(thread=thread, **wanted)


def control_of(answer: Answer) -> ControlRequest:
    assert answer.status == 202
    return ControlRequest.objects.get(id=answer.body["control_id"])


def test_a_running_thread_rejects_by_default_and_names_the_run(thread: AgentThread) -> None:
    Held(thread)
    with pytest.raises(ThreadBusy) as refused:
        update(thread, DENY)
    assert refused.value.run_id == RUN
    assert not ControlRequest.objects.exists()


def test_a_rehearsal_skips_the_lease_and_says_so(thread: AgentThread) -> None:
    Held(thread)
    answer = update(thread, CLEAR, dry_run=True)
    assert answer.status == 200
    assert answer.body["effects"][0] == f"Run {RUN} works on this thread now."


def test_an_expired_lease_holds_nobody_up_and_its_writer_is_fenced(thread: AgentThread) -> None:
    held = Held(thread, seconds=0.0)
    assert update(thread, DENY).status == 200
    with pytest.raises(Exception, match="taken this thread over"):
        held.end()


def test_a_waiting_edit_is_applied_between_steps(thread: AgentThread) -> None:
    held = Held(thread)
    control = control_of(update(thread, DENY, on_busy="wait"))
    thread.refresh_from_db()
    assert (control.state, control.kind, thread.pending_controls) == ("requested", "edit", 1)
    held.between_steps()
    control.refresh_from_db()
    thread.refresh_from_db()
    assert (control.state, thread.pending_controls) == ("effective", 0)
    assert "execute" in state_at(thread).state.permission_context.deny_rules
    assert "execute" in held.writer.state.permission_context.deny_rules


def test_an_edit_asked_for_before_the_first_state_was_written_fits_after_it() -> None:
    fresh = make_thread()
    held = Held(fresh)
    control = control_of(update(fresh, DENY, on_busy="wait"))
    held.writer.state.permission_context = configured.agent_permissions(fresh.agent_id)
    held.writer.state.context_mutable().append(user_message("one"))
    async_to_sync(held.writer.flush)(reason="request")
    held.between_steps()
    control.refresh_from_db()
    assert control.state == "effective", control.result


def test_clearing_waits_for_the_turns_end(thread: AgentThread) -> None:
    held = Held(thread)
    control = control_of(update(thread, CLEAR, on_busy="wait"))
    held.between_steps()
    held.writer.state.context_mutable().append(user_message("five"))
    assert not held.end()
    held.at_the_end()
    control.refresh_from_db()
    assert control.state == "effective"
    assert loads(control.result)["diff"]["messages"] == {
        **loads(control.result)["diff"]["messages"],
        "before": 5,
        "after": 0,
    }
    assert state_at(thread).state.context == ()


def test_the_lease_is_kept_while_an_edit_waits(thread: AgentThread) -> None:
    held = Held(thread)
    update(thread, CLEAR, on_busy="wait")
    assert not held.end()
    held.at_the_end()
    assert held.end()


def test_an_effect_leaves_who_asked_and_why(thread: AgentThread) -> None:
    held = Held(thread)
    control = control_of(update(thread, DENY, on_busy="wait"))
    held.between_steps()
    asked, done = AuditEntry.objects.filter(target=f"thread:{thread.id}").order_by("n")
    assert (asked.action, done.action) == ("state.update_requested", "state.update")
    assert (done.actor, done.reason, done.trace_id) == ("olga", "why", OPERATOR.trace_id)
    control.refresh_from_db()
    assert loads(control.result)["version"] == loads(done.body or "")["content"]["version"]


def test_only_what_the_edit_touches_must_be_unchanged(thread: AgentThread) -> None:
    held = Held(thread)
    control = control_of(update(thread, DENY, on_busy="wait"))
    other = control_of(update(thread, {**DENY, "tool_name": "write_file"}, on_busy="wait"))
    held.writer.state.summary = "so far"
    held.at_the_end()
    control.refresh_from_db()
    other.refresh_from_db()
    assert (control.state, other.state) == ("effective", "refused")
    assert loads(other.result)["code"] == "stale_version"
    assert AuditEntry.objects.get(outcome="failed").action == "state.update"
    thread.refresh_from_db()
    assert thread.pending_controls == 0


def test_an_edit_that_meets_a_question_is_refused(thread: AgentThread) -> None:
    held = Held(thread)
    control = control_of(update(thread, CLEAR, on_busy="wait"))
    asked = held.writer.fact("interaction/requested", {"interaction_id": "i1", "call_id": "c"})
    async_to_sync(held.writer.flush)([asked], reason="asks")
    held.at_the_end()
    control.refresh_from_db()
    assert control.state == "refused"
    assert loads(control.result)["ids"] == ["i1"]


def test_what_is_wrong_with_an_edit_is_said_at_once(thread: AgentThread) -> None:
    Held(thread)
    with pytest.raises(InvalidOperation):
        update(thread, {**DENY, "op": "remove_rule"}, on_busy="wait")
    stale = person("olga", "operator", fresh=False)
    with pytest.raises(StepUpRequired):
        update(thread, {**DENY, "behavior": "allow"}, on_busy="wait", actor=stale)
    with pytest.raises(StaleVersion):
        update(thread, DENY, on_busy="wait", expected_version=9)
    assert not ControlRequest.objects.exists()


def test_interrupting_needs_its_permission(thread: AgentThread) -> None:
    Held(thread)
    [grant] = OPERATOR.grants
    less = grant.within(grant.permissions - {"runs:interrupt"})
    narrow = replace(OPERATOR, grants=(less,))
    with pytest.raises(Refused) as refused:
        update(thread, DENY, on_busy="interrupt", actor=narrow)
    assert refused.value.permission == "runs:interrupt"
    assert not ControlRequest.objects.exists()


def test_an_interrupt_that_takes_too_long_answers_202(
    thread: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busy, "PATIENCE", 0.1)
    Held(thread)
    control = control_of(update(thread, DENY, on_busy="interrupt", request_id="r"))
    kinds = set(ControlRequest.objects.values_list("kind", "run_id"))
    assert kinds == {("edit", None), ("interrupt", RUN)}
    assert control_of(update(thread, DENY, on_busy="interrupt", request_id="r")) == control


@pytest.mark.django_db(transaction=True)
def test_an_interrupting_edit_answers_200_when_the_run_stops_in_time(thread: AgentThread) -> None:
    held = Held(thread)

    def stop_when_asked() -> None:
        asked = until(
            lambda: [c for c in mailbox.open_controls([thread.id]) if c.kind == "interrupt"], "stop"
        )
        mailbox.acknowledge(asked[0].id)
        mailbox.finish(asked[0], result={})
        held.at_the_end()
        connections.close_all()

    worker = threading.Thread(target=stop_when_asked)
    worker.start()
    answer = update(thread, CLEAR, on_busy="interrupt", request_id="r")
    worker.join()
    assert answer.status == 200
    assert AuditEntry.objects.filter(id=answer.body["audit_id"], action="state.update").exists()
    assert update(thread, CLEAR, on_busy="interrupt", request_id="r") == answer


def test_the_same_waiting_request_makes_one_control(thread: AgentThread) -> None:
    Held(thread)
    first = update(thread, DENY, on_busy="wait", request_id="r")
    assert update(thread, DENY, on_busy="wait", request_id="r") == first
    assert ControlRequest.objects.count() == 1


def test_a_control_moves_once(thread: AgentThread) -> None:
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.INTERRUPT, actor=OPERATOR, reason="stop"
    )
    assert mailbox.deliver([control.id], control.requested_at) == 1
    assert mailbox.deliver([control.id], control.requested_at) == 0
    assert mailbox.acknowledge(control.id)
    assert not mailbox.acknowledge(control.id)
    assert mailbox.finish(control, result={"run_id": RUN})
    assert not mailbox.finish(control, result={}, refused_code="late")
    control.refresh_from_db()
    thread.refresh_from_db()
    assert (control.state, thread.pending_controls) == ("effective", 0)
    times = [control.requested_at, control.delivered_at, control.acknowledged_at]
    assert [*times, control.effective_at] == sorted([*times, control.effective_at])  # type: ignore[type-var]
    assert mailbox.open_controls([thread.id]) == []


def test_a_control_remembers_who_asked(thread: AgentThread) -> None:
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.EDIT, actor=OPERATOR, reason="stop"
    )
    asked = mailbox.actor_of(control)
    assert (asked.kind, asked.id, asked.name) == (OPERATOR.kind, OPERATOR.id, OPERATOR.name)
    assert asked.permissions == frozenset()


@pytest.fixture
def hints() -> Iterator[Callable[[], list[str]]]:
    with Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as channel:
        channel.subscribe(mailbox.HINTS)

        def heard() -> list[str]:
            found = []
            while (message := channel.get_message(timeout=0.3)) is not None:
                if message["type"] == "message":
                    found.append(message["data"].decode())
            return found

        yield heard


@pytest.mark.django_db(transaction=True)
def test_a_hint_follows_the_commit(thread: AgentThread, hints: Callable[[], list[str]]) -> None:
    mailbox.request_control(
        thread=thread, kind=ControlKind.INTERRUPT, actor=OPERATOR, reason="stop"
    )
    assert hints() == [str(thread.id)]


def test_without_redis_a_control_is_requested_all_the_same(
    thread: AgentThread, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    with django_capture_on_commit_callbacks(execute=True):
        control = mailbox.request_control(
            thread=thread, kind=ControlKind.INTERRUPT, actor=OPERATOR, reason="stop"
        )
    assert ControlRequest.objects.filter(id=control.id).exists()


def test_talking_does_not_make_a_clearing_stale(thread: AgentThread) -> None:
    held = Held(thread)
    update(thread, CLEAR, on_busy="wait")
    held.writer.state.context_mutable().append(user_message("more"))
    held.at_the_end()
    assert state_at(thread).state.context == ()
    assert held.end()
    say(thread, "again")
    assert [m.text for m in state_at(thread).state.context] == ["again"]
