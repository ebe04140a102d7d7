"""Settling controls between runs, with the worker's own lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.db import transaction

from runs_app.admitting import Work, read_head
from runs_app.parked import cancel_parked
from sessions_app import mailbox
from sessions_app.services.pending_edits import apply_pending_edits
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.engine.journal.writer import JournalWriter
    from runs_app.admitting import Head
    from runs_app.desk import Desk
    from sessions_app.models import ControlRequest


async def settle_mail(desk: Desk, writer: JournalWriter) -> None:
    """Apply edits, cancel parked turns, refuse stops that came too late.

    Stops of a turn that is about to go on are left for its run.
    """
    head = await sync_to_async(read_head)(desk.ref.id)
    for request in desk.controls:
        if request.kind == ControlKind.EDIT:
            await _edit(desk, writer, request, head)
        elif head.work is not Work.RUN or not _means(request, head):
            await _stop(desk, writer, request, head)
            head = await sync_to_async(read_head)(desk.ref.id)


async def _edit(desk: Desk, writer: JournalWriter, request: ControlRequest, head: Head) -> None:
    """In the middle of a turn only the run itself knows which edits are safe."""
    if head.is_under_way:
        return
    await apply_pending_edits(writer, [request])
    desk.keep_open([request])


def _means(request: ControlRequest, head: Head) -> bool:
    """Whether a stop is for the turn that leads now (its run may be the one that was lost)."""
    if head.turn is None:
        return False
    if request.turn_id is not None:
        return request.turn_id == head.turn.id
    return request.run_id is None or request.run_id == head.lost_run


async def _stop(desk: Desk, writer: JournalWriter, request: ControlRequest, head: Head) -> None:
    turn = head.turn
    if request.kind == ControlKind.CANCEL and turn is not None and turn.id == request.turn_id:
        # The commit settles the control: the desk knows which turn it is for.
        with desk.parked(turn.id):
            by = {"name": request.actor_name}
            await cancel_parked(writer, turn.id, by=by, reason=request.reason)
        return
    code = "turn_finished" if request.kind == ControlKind.CANCEL else "no_active_run"
    await sync_to_async(_refuse)(request, code)
    desk.forget([request])


@transaction.atomic
def _refuse(request: ControlRequest, code: str) -> None:
    detail = "The run ended before it was told."
    mailbox.finish(request, result={"detail": detail}, refused_code=code)
