"""Cancelling a turn: at once where nothing runs, else by the run that works on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.db import transaction

from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.dispatch import dispatch_on_commit
from runs_app.parked import cancel_parked
from runs_app.policies import CANCEL
from runs_app.selectors.turns import turn_detail
from runs_app.services.commits import append_facts
from runs_app.services.editing import edit_writer
from runs_app.services.receipts import Receipt, once
from runs_app.services.turn_commands import (
    by_of,
    held_turn,
    require_allowed,
    settled,
    waits_in_queue,
)
from runs_app.states import TurnCommand, TurnState
from sessions_app import mailbox
from sessions_app.journal.rows import head_row
from sessions_app.services.idempotency import Once
from sessions_app.services.reasons import checked_reason
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread


def cancel_turn(
    *, actor: Actor, turn_id: str, reason: str | None, request_id: str | None = None
) -> Receipt:
    """Give a turn up. A queued, waiting or paused one is cancelled when this returns."""
    turn = turn_detail(actor, turn_id, CANCEL)
    why = checked_reason(reason)
    given = Once.of(actor, "cancelTurn", turn.id, request_id, {"reason": why})
    return once(given, lambda key: _cancel(actor, turn, why, key))


@transaction.atomic
def _cancel(actor: Actor, turn: Turn, reason: str, key: Once) -> Receipt:
    thread = held_turn(turn)
    require_allowed(turn, TurnCommand.CANCEL)
    control_id = _give_up(actor, thread, turn, reason)
    return settled(
        actor, thread, turn, key, TurnCommand.CANCEL, reason=reason, control_id=control_id
    )


def _give_up(actor: Actor, thread: AgentThread, turn: Turn, reason: str) -> str | None:
    """Cancel as the state allows; the control's id where a run has to do it."""
    by = by_of(actor)
    if waits_in_queue(turn):
        payload = {"by": by, "reason": reason}
        append_facts(thread, NewFact(FactType.TURN_CANCELLED, payload, turn.id))
        dispatch_on_commit(str(thread.id))
        return None
    head = head_row(str(thread.id))
    if turn.state in {TurnState.WAITING, TurnState.PAUSED} and not (head and head.live):
        writer = edit_writer(thread, actor)
        async_to_sync(cancel_parked)(writer, turn.id, by=by, reason=reason)
        dispatch_on_commit(str(thread.id))
        return None
    return _ask_the_run(actor, thread, turn, reason)


def _ask_the_run(actor: Actor, thread: AgentThread, turn: Turn, reason: str) -> str:
    control = mailbox.request_control(
        thread=thread,
        kind=ControlKind.CANCEL,
        actor=actor,
        reason=reason,
        run_id=thread.active_run_id,
        turn_id=turn.id,
    )
    if turn.state not in {TurnState.WAITING, TurnState.PAUSED}:
        payload = {"kind": "cancel", "control_id": str(control.id)}
        run_id = thread.active_run_id
        append_facts(thread, NewFact(FactType.RUN_STOP_REQUESTED, payload, turn.id, run_id))
    return str(control.id)
