"""Interrupting what runs: a control in the thread's mailbox, which the run's worker watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import InvalidInput, NoActiveRun
from agentadmin.engine.messages import user_message
from runs_app.policies import INTERRUPT, target_within
from runs_app.selectors.runs import run_detail
from runs_app.services.commits import locked
from runs_app.services.receipts import Receipt, once, remember
from runs_app.states import TurnState
from sessions_app import mailbox
from sessions_app.policies import require_thread
from sessions_app.selectors.threads import thread_of_session
from sessions_app.services.idempotency import Once
from sessions_app.services.reasons import checked_reason
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.messages import Msg
    from sessions_app.models import AgentSession, AgentThread

MAX_MESSAGE = 100_000


def interrupt_run(
    *,
    actor: Actor,
    run_id: str,
    reason: str | None,
    message: str | None = None,
    request_id: str | None = None,
) -> Receipt:
    """Interrupt one run; one that has ended is not active any more."""
    run = run_detail(actor, run_id, INTERRUPT)
    return _interrupt(actor, run.thread, reason, message, request_id, run.id)


def interrupt_session(
    *,
    actor: Actor,
    session: AgentSession,
    reason: str | None,
    thread_id: str | None = None,
    message: str | None = None,
    request_id: str | None = None,
) -> Receipt:
    """Interrupt whatever runs on a session's thread: the only one, `main`, or the one named."""
    thread = thread_of_session(session, thread_id)
    require_thread(actor, INTERRUPT, thread)
    return _interrupt(actor, thread, reason, message, request_id, None)


def _interrupt(
    actor: Actor,
    thread: AgentThread,
    reason: str | None,
    message: str | None,
    request_id: str | None,
    run_id: str | None,
) -> Receipt:
    why = checked_reason(reason)
    said = _checked_message(message)
    body = {"run_id": run_id, "reason": why, "message": message}
    given = Once.of(actor, "interrupt", str(thread.id), request_id, body)
    return once(given, lambda key: _request(actor, thread, why, said, run_id, key))


def _checked_message(message: str | None) -> Msg | None:
    """The message that the model will see after the recovery reply; blank is none."""
    if message is None or not message.strip():
        return None
    if len(message) > MAX_MESSAGE:
        raise InvalidInput(f"has more than {MAX_MESSAGE} characters", path="message")
    return user_message(message)


@transaction.atomic
def _request(
    actor: Actor,
    thread: AgentThread,
    reason: str,
    message: Msg | None,
    run_id: str | None,
    key: Once,
) -> Receipt:
    thread = locked(thread)
    active = thread.active_run_id
    if active is None or run_id not in (None, active):
        raise NoActiveRun(thread.queued_turns)
    control = mailbox.request_control(
        thread=thread,
        kind=ControlKind.INTERRUPT,
        actor=actor,
        reason=reason,
        run_id=active,
        turn_id=thread.active_turn_id,
        payload={"message": message.raw if message else None},
    )
    receipt = Receipt(
        thread.active_turn_id, TurnState.RUNNING, run_id=active, control_id=str(control.id)
    )
    remember(key, receipt)
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action="runs.interrupt",
            target=target_within(thread, "run", active),
            outcome=Outcome.ALLOWED,
            reason=reason,
            content={"control_id": str(control.id), "message": message.text if message else None},
        )
    )
    return receipt
