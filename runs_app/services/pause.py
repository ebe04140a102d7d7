"""Pausing a turn and letting it go on: at once where nothing runs, else at the next safe point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.engine.errors import StaleRevision
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.state import codec
from runs_app.dispatch import dispatch_on_commit
from runs_app.policies import STEER
from runs_app.selectors.turns import turn_detail
from runs_app.services.commits import append_facts
from runs_app.services.receipts import Receipt, once
from runs_app.services.turn_commands import (
    by_of,
    held_turn,
    is_worked_on,
    require_allowed,
    settled,
    waits_in_queue,
)
from runs_app.states import ANSWERABLE, TERMINAL, TurnCommand, WaitKind
from sessions_app import mailbox
from sessions_app.services.idempotency import Once
from sessions_app.services.reasons import checked_reason
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread


def pause_turn(
    *, actor: Actor, turn_id: str, reason: str | None = None, request_id: str | None = None
) -> Receipt:
    """Hold a turn. One that runs is `pausing` until its next safe point; no tool is cut off."""
    turn = turn_detail(actor, turn_id, STEER)
    why = None if reason is None else checked_reason(reason)
    given = Once.of(actor, "pauseTurn", turn.id, request_id, {"reason": why})
    return once(given, lambda key: _pause(actor, turn, why, key))


@transaction.atomic
def _pause(actor: Actor, turn: Turn, reason: str | None, key: Once) -> Receipt:
    thread = held_turn(turn)
    require_allowed(turn, TurnCommand.PAUSE)
    control_id = None
    if is_worked_on(thread, turn):
        control_id = _ask_the_run(actor, thread, turn, reason)
    else:
        paused = {"by": by_of(actor), "reason": reason}
        append_facts(thread, NewFact(FactType.TURN_PAUSED, paused, turn.id))
    return settled(
        actor, thread, turn, key, TurnCommand.PAUSE, reason=reason, control_id=control_id
    )


def _ask_the_run(actor: Actor, thread: AgentThread, turn: Turn, reason: str | None) -> str:
    control = mailbox.request_control(
        thread=thread,
        kind=ControlKind.PAUSE,
        actor=actor,
        reason=reason or "",
        run_id=thread.active_run_id,
        turn_id=turn.id,
    )
    payload = {"kind": "pause", "control_id": str(control.id)}
    run_id = thread.active_run_id
    append_facts(thread, NewFact(FactType.RUN_STOP_REQUESTED, payload, turn.id, run_id))
    return str(control.id)


def resume_turn(
    *,
    actor: Actor,
    turn_id: str,
    revision: int,
    reason: str | None = None,
    request_id: str | None = None,
) -> Receipt:
    """Let a paused turn go on from where it was seen. Raises StaleRevision when it has moved."""
    turn = turn_detail(actor, turn_id, STEER)
    why = None if reason is None else checked_reason(reason)
    body = {"revision": revision, "reason": why}
    given = Once.of(actor, "resumeTurn", turn.id, request_id, body)
    return once(given, lambda key: _resume(actor, turn, revision, why, key))


@transaction.atomic
def _resume(actor: Actor, turn: Turn, revision: int, reason: str | None, key: Once) -> Receipt:
    thread = held_turn(turn)
    if turn.state not in TERMINAL and revision != turn.revision:
        raise StaleRevision(turn.revision, turn.state)
    require_allowed(turn, TurnCommand.RESUME)
    resumed = {"why": "resumed", "to": _goes_to(thread, turn), "by": by_of(actor), "reason": reason}
    append_facts(thread, NewFact(FactType.TURN_RESUMED, resumed, turn.id))
    dispatch_on_commit(str(thread.id))
    return settled(actor, thread, turn, key, TurnCommand.RESUME, reason=reason, revision=revision)


def _goes_to(thread: AgentThread, turn: Turn) -> str | None:
    """Back into the queue, back to its wait where that is still open, else it runs (None)."""
    if waits_in_queue(turn):
        return "queued"
    match turn.wait_kind:
        case None:
            return None
        case kind if kind in ANSWERABLE:
            return "waiting" if thread.pending_interactions else None
        case WaitKind.RECONCILE:
            return "waiting" if codec.loads(turn.wait_ids) else None
    return "waiting"
