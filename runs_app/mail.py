"""Settling controls between runs, with the worker's own lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.db import transaction

from runs_app.admitting import Work, read_head
from runs_app.parked import cancel_parked, pause_parked
from runs_app.states import TurnState
from runs_app.verdicts import FINISHED, UNREAD, Verdict, kept, too_late
from sessions_app import mailbox
from sessions_app.services.pending_edits import apply_pending_edits
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.engine.journal.writer import JournalWriter
    from runs_app.admitting import Head
    from runs_app.desk import Desk
    from sessions_app.models import ControlRequest


async def settle_mail(desk: Desk, writer: JournalWriter) -> None:
    """Apply edits, cancel or pause parked turns, refuse what came too late.

    Stops of a turn that is about to go on are left for its run.
    """
    head = await sync_to_async(read_head)(desk.ref.id)
    for request in desk.controls:
        if request not in desk.controls:
            # The commit for an earlier one has settled it.
            continue
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
    """No run goes on that could obey: the parked turn does, or it is too late."""
    turn = head.turn
    if turn is None or turn.id != request.turn_id:
        await _settle(desk, _late(request))
    elif request.kind == ControlKind.CANCEL:
        # The commit settles the control: the desk knows which turn it is for.
        with desk.parked(turn.id):
            by = {"name": request.actor_name}
            await cancel_parked(writer, turn.id, by=by, reason=request.reason)
    elif request.kind == ControlKind.PAUSE and turn.state == TurnState.WAITING:
        with desk.parked(turn.id):
            by = {"name": request.actor_name}
            await pause_parked(writer, turn.id, by=by, reason=request.reason)
    elif request.kind == ControlKind.PAUSE and turn.state == TurnState.PAUSED:
        await _settle(desk, Verdict(request, {"turn_id": turn.id}))
    elif request.kind == ControlKind.STEER:
        await _settle(desk, kept(request))
    else:
        await _settle(desk, _late(request))


def _late(request: ControlRequest) -> Verdict:
    if request.kind == ControlKind.STEER:
        return Verdict(request, {"turn_id": request.turn_id, "detail": UNREAD}, FINISHED)
    ends = request.kind in {ControlKind.CANCEL, ControlKind.PAUSE}
    code = FINISHED if ends else "no_active_run"
    return Verdict(request, {"detail": too_late(request)}, code)


async def _settle(desk: Desk, verdict: Verdict) -> None:
    await sync_to_async(_finish)(verdict)
    desk.forget([verdict.control])


@transaction.atomic
def _finish(verdict: Verdict) -> None:
    mailbox.finish(verdict.control, result=verdict.result, refused_code=verdict.refused_code)
