"""What commands to a turn share: the turn locked, the verdict of the table, receipt and audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import Conflict, TurnFinished
from runs_app.policies import target_within
from runs_app.services.commits import locked
from runs_app.services.receipts import Receipt, remember
from runs_app.states import TERMINAL, TurnCommand, TurnState, allows, in_queue
from sessions_app.journal.rows import head_row

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread
    from sessions_app.services.idempotency import Once

_READ = ["state", "wait_kind", "wait_ids", "revision", "started_at", "steering"]


def held_turn(turn: Turn) -> AgentThread:
    """Lock the turn's thread and read the turn as it stands under the lock."""
    thread = locked(turn.thread)
    turn.refresh_from_db(fields=_READ)
    return thread


def require_allowed(turn: Turn, command: TurnCommand) -> None:
    """Raises TurnFinished, or Conflict with the sentence that the button shows."""
    verdict = allows(command, turn.state, turn.wait_kind)
    if not verdict.allowed:
        raise TurnFinished() if turn.state in TERMINAL else Conflict(verdict.reason)


def waits_in_queue(turn: Turn) -> bool:
    """Whether the turn still has to begin."""
    return in_queue(turn.state, turn.wait_kind, has_started=turn.started_at is not None)


def is_worked_on(thread: AgentThread, turn: Turn) -> bool:
    """Whether a run has the turn, or a worker may be about to begin one."""
    if turn.id != thread.active_turn_id or turn.state not in {
        TurnState.RUNNING,
        TurnState.PAUSING,
        TurnState.CANCELLING,
    }:
        return False
    head = head_row(str(thread.id))
    return thread.active_run_id is not None or (head is not None and head.live)


def by_of(actor: Actor) -> dict[str, Any]:
    """Who, as facts name them."""
    return {"name": actor.name, "kind": str(actor.kind)}


def settled(
    actor: Actor,
    thread: AgentThread,
    turn: Turn,
    key: Once,
    command: TurnCommand,
    *,
    reason: str | None = None,
    control_id: str | None = None,
    **content: Any,
) -> Receipt:
    """The receipt of a command that was taken, remembered; the audit entry comes last."""
    turn.refresh_from_db(fields=_READ)
    receipt = Receipt(turn.id, turn.state, revision=turn.revision, control_id=control_id)
    remember(key, receipt)
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action=f"turns.{command}",
            target=target_within(thread, "turn", turn.id),
            outcome=Outcome.ALLOWED,
            reason=reason,
            content={"state": turn.state, "control_id": control_id, **content},
        )
    )
    return receipt
