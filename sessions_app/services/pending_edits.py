"""Edits that came while a run held the thread, applied by the run's own writer (design §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry
from agentadmin.audit.format import Outcome as AuditOutcome
from agentadmin.engine.errors import (
    AgentAdminError,
    Conflict,
    InvalidInput,
    ModelError,
    StaleVersion,
)
from agentadmin.engine.state import codec
from sessions_app import mailbox
from sessions_app.models import AgentThread, ControlRequest
from sessions_app.policies import thread_target
from sessions_app.services.edits import Change, Edit
from sessions_app.services.outcome import Outcome, audit_change
from sessions_app.services.redacting import erasures
from sessions_app.services.resolving import Ground, resolved_change
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.base import Committed
    from agentadmin.engine.journal.writer import JournalWriter


async def apply_pending_edits(writer: JournalWriter, controls: Sequence[ControlRequest]) -> None:
    """Apply every edit among the controls, oldest first; call it before the lease is given back.

    Each is one commit with its audit entry; one whose base has changed ends `refused`.
    """
    for control in controls:
        if control.kind == ControlKind.EDIT:
            await _apply(writer, control, _edit_of(control))


async def apply_edits_between_steps(
    writer: JournalWriter, controls: Sequence[ControlRequest]
) -> None:
    """Apply the edits that leave the conversation alone, in the middle of a turn.

    Clearing under a turn that goes on would leave the model nothing to answer, so what touches
    messages or summary waits for the turn's end.
    """
    for control in controls:
        if control.kind == ControlKind.EDIT and not _edit_of(control).touches_conversation:
            await _apply(writer, control, _edit_of(control))


def _edit_of(control: ControlRequest) -> Edit:
    return Edit.parse(codec.loads(control.payload)["operations"])


async def _apply(writer: JournalWriter, control: ControlRequest, edit: Edit) -> None:
    thread = await AgentThread.objects.select_related("session").aget(id=control.thread_id)
    try:
        edit.check_parked(writer.projection)
        _check_base(writer, control, edit)
        change = await resolved_change(edit, _ground(writer, control, thread))
    except (Conflict, InvalidInput, ModelError) as error:
        await sync_to_async(_refuse)(control, thread, edit, error)
        return
    await _commit(writer, control, thread, edit, change)


def _ground(writer: JournalWriter, control: ControlRequest, thread: AgentThread) -> Ground:
    return Ground(
        actor=mailbox.actor_of(control),
        thread=thread,
        journal=writer.store,
        projection=writer.projection,
        state=writer.state,
    )


def _check_base(writer: JournalWriter, control: ControlRequest, edit: Edit) -> None:
    """Only the parts that the operations touch must be as they were at the request."""
    if codec.loads(control.payload)["base"] != edit.base(writer.projection):
        raise StaleVersion(writer.projection.version)


async def _commit(
    writer: JournalWriter,
    control: ControlRequest,
    thread: AgentThread,
    edit: Edit,
    change: Change,
) -> None:
    actor = mailbox.actor_of(control)

    def settle(committed: Committed) -> None:
        outcome = Outcome(
            committed.version,
            committed.last_seq,
            change.diff,
            change.effects,
            trace_id=actor.trace_id,
        )
        mailbox.finish(control, result=outcome.body())

    def audit(committed: Committed) -> None:
        audit_change(actor, thread, edit, control.reason, change, committed)

    rows = (settle, *erasures(edit, thread), audit)
    before, kept = writer.state.copy(), (writer.actor, writer.replace_reason)
    writer.state.assume(change.after)
    writer.actor, writer.replace_reason = actor.name, edit.name
    writer.refer_to(change.items)
    try:
        await writer.flush(change.notes, reason=edit.why(control.reason), rows=rows)
    except BaseException:
        writer.state.assume(before)
        raise
    finally:
        writer.actor, writer.replace_reason = kept


@transaction.atomic
def _refuse(
    control: ControlRequest, thread: AgentThread, edit: Edit, error: AgentAdminError
) -> None:
    told: dict[str, Any] = {"detail": error.detail, **error.extra()}
    if not mailbox.finish(control, result=told, refused_code=error.code):
        return
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=mailbox.actor_of(control),
            action="state.update",
            target=thread_target(thread),
            outcome=AuditOutcome.FAILED,
            reason=control.reason,
            content={"operations": list(edit.operations), "code": error.code, **told},
        )
    )
