"""Cancelling a turn: at once where nothing runs, else by the run that works on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import Conflict, TurnFinished
from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.dispatch import dispatch_on_commit
from runs_app.parked import cancel_parked
from runs_app.policies import CANCEL, target_within
from runs_app.selectors.turns import turn_detail
from runs_app.services.commits import append_facts, locked
from runs_app.services.editing import edit_writer
from runs_app.services.receipts import Receipt, once, remember
from runs_app.states import TERMINAL, TurnCommand, TurnState, allows
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
    thread = locked(turn.thread)
    turn.refresh_from_db(fields=["state", "wait_kind", "revision"])
    verdict = allows(TurnCommand.CANCEL, turn.state, turn.wait_kind)
    if not verdict.allowed:
        raise TurnFinished() if turn.state in TERMINAL else Conflict(verdict.reason)
    control_id = _give_up(actor, thread, turn, reason)
    turn.refresh_from_db(fields=["state", "revision"])
    receipt = Receipt(turn.id, turn.state, revision=turn.revision, control_id=control_id)
    remember(key, receipt)
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action="turns.cancel",
            target=target_within(thread, "turn", turn.id),
            outcome=Outcome.ALLOWED,
            reason=reason,
            content={"state": turn.state, "control_id": control_id},
        )
    )
    return receipt


def _give_up(actor: Actor, thread: AgentThread, turn: Turn, reason: str) -> str | None:
    """Cancel as the state allows; the control's id where a run has to do it."""
    by = {"name": actor.name, "kind": str(actor.kind)}
    if turn.state == TurnState.QUEUED:
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
