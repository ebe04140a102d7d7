"""An update of a thread that a run holds: a command in its mailbox, and the wait for its effect."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry
from agentadmin.audit.format import Outcome as AuditOutcome
from agentadmin.engine.errors import (
    AgentAdminError,
    Conflict,
    InteractionPending,
    InvalidOperation,
    ModelError,
    NeedsReconcile,
    StaleTasks,
    StaleVersion,
)
from agentadmin.engine.state import codec
from sessions_app.mailbox import request_control
from sessions_app.models import ControlRequest
from sessions_app.policies import INTERRUPT, require_thread, thread_target
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.outcome import with_audit_id
from sessions_app.states import ControlKind, ControlState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions_app.services.update_state import Update

PATIENCE = 5.0
"""Seconds that an interrupting update waits for its effect before it answers 202."""
_LOOK_EVERY = 0.03


def wait_for_edit(update: Update, once: Once, base: Mapping[str, Any]) -> Answer:
    """Leave the edit to the run: it is applied at its next safe point."""
    with transaction.atomic():
        control = _request(update, base)
        answer = Answer(202, {"control_id": str(control.id)})
        once.remember(answer)
        _audit(update, control)
    return answer


def interrupt_for_edit(
    update: Update, once: Once, base: Mapping[str, Any], run_id: str | None
) -> Answer:
    """Interrupt the run and have the edit applied as it stops; 200 when that takes under 5 s."""
    require_thread(update.actor, INTERRUPT, update.thread)
    with transaction.atomic():
        control = _request(update, base)
        request_control(
            thread=update.thread,
            kind=ControlKind.INTERRUPT,
            actor=update.actor,
            reason=update.reason,
            run_id=run_id,
        )
        answer = Answer(202, {"control_id": str(control.id)})
        once.remember(answer)
        _audit(update, control, interrupts=run_id)
    settled = _settled(control)
    if settled is None:
        return answer
    result = codec.loads(settled.result)
    if settled.state == ControlState.REFUSED:
        once.forget()
        raise refusal(result)
    answer = Answer(200, with_audit_id(result, update.thread))
    once.amend(answer)
    return answer


def _request(update: Update, base: Mapping[str, Any]) -> ControlRequest:
    return request_control(
        thread=update.thread,
        kind=ControlKind.EDIT,
        actor=update.actor,
        reason=update.reason,
        payload={"operations": list(update.edit.operations), "base": dict(base)},
    )


def _audit(update: Update, control: ControlRequest, **content: Any) -> None:
    append(
        NewEntry(
            namespace=update.thread.session.namespace,
            actor=update.actor,
            action="state.update_requested",
            target=thread_target(update.thread),
            outcome=AuditOutcome.ALLOWED,
            reason=update.reason,
            content={
                "control_id": str(control.id),
                "operations": list(update.edit.operations),
                **content,
            },
        )
    )


def _settled(control: ControlRequest) -> ControlRequest | None:
    """The control once it is effective or refused, or None when patience ends first."""
    deadline = time.monotonic() + PATIENCE
    final = ControlRequest.objects.filter(
        id=control.id, state__in=[ControlState.EFFECTIVE, ControlState.REFUSED]
    )
    while time.monotonic() < deadline:
        if (row := final.first()) is not None:
            return row
        time.sleep(_LOOK_EVERY)
    return None


_REFUSALS: dict[str, Callable[[Mapping[str, Any]], AgentAdminError]] = {
    StaleVersion.code: lambda r: StaleVersion(r["current_version"], r.get("diff")),
    InteractionPending.code: lambda r: InteractionPending(r["ids"]),
    NeedsReconcile.code: lambda r: NeedsReconcile(r["call_ids"]),
    InvalidOperation.code: lambda r: InvalidOperation(
        r["detail"], index=r["index"], path=r.get("path", "")
    ),
    StaleTasks.code: lambda r: StaleTasks(r["revision"]),
    ModelError.code: lambda r: ModelError(r["detail"], retryable=bool(r.get("retryable"))),
}


def refusal(result: Mapping[str, Any]) -> AgentAdminError:
    """The error that a refused control stands for."""
    made = _REFUSALS.get(result["code"])
    return made(result) if made else Conflict(result.get("detail", ""))
