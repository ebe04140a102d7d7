"""Recording what became of tool calls that were cut off: nothing is executed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import Conflict, InvalidInput, ThreadBusy
from agentadmin.engine.journal.facts import FactType
from runs_app.dispatch import dispatch_on_commit
from runs_app.fold import REPAIR_RECONCILED
from runs_app.models import Turn
from runs_app.outcomes import outcome_message
from runs_app.policies import RECONCILE, target_within
from runs_app.services.commits import locked
from runs_app.services.editing import edit_writer
from runs_app.services.receipts import Receipt, once, remember
from sessions_app.journal.rows import head_row
from sessions_app.policies import require_thread
from sessions_app.services.idempotency import Once
from sessions_app.services.reasons import checked_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.writer import JournalWriter
    from sessions_app.models import AgentThread


def reconcile_tools(
    *,
    actor: Actor,
    thread: AgentThread,
    results: Mapping[str, Any],
    reason: str,
    request_id: str | None = None,
) -> Receipt:
    """Give each call of unknown outcome its result: exactly those, all at once.

    The turn then goes on, or ends as it was about to when it was cut off.
    """
    require_thread(actor, RECONCILE, thread)
    checked_reason(reason)
    body = {"results": dict(results), "reason": reason}
    given = Once.of(actor, "reconcileTools", str(thread.id), request_id, body)
    return once(given, lambda key: _record(actor, thread, results, reason, key))


@transaction.atomic
def _record(
    actor: Actor, thread: AgentThread, results: Mapping[str, Any], reason: str, key: Once
) -> Receipt:
    thread = locked(thread)
    head = head_row(str(thread.id))
    if head is not None and head.live:
        raise ThreadBusy(thread.active_run_id or "")
    writer = edit_writer(thread, actor)
    _check_complete(writer, results)
    turn_id = next(iter(writer.projection.uncertain.values())).turn_id
    _put_results(writer, results)
    writer.turn_id = turn_id
    recovered = writer.fact(FactType.RECOVERY_APPLIED, _repairs(actor, results, reason))
    async_to_sync(writer.flush)([recovered], reason=reason)
    turn = Turn.objects.filter(id=turn_id).first()
    receipt = Receipt(turn_id, turn.state if turn else None, turn.revision if turn else None)
    remember(key, receipt)
    dispatch_on_commit(str(thread.id))
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action="threads.reconcile",
            target=target_within(thread, "thread", str(thread.id)),
            outcome=Outcome.ALLOWED,
            reason=reason,
            content={"results": dict(results), "turn_id": turn_id},
        )
    )
    return receipt


def _check_complete(writer: JournalWriter, results: Mapping[str, Any]) -> None:
    """Exactly the calls of unknown outcome, no more and no fewer."""
    uncertain = writer.projection.uncertain
    if not uncertain:
        raise Conflict("No tool call of this thread has an unknown outcome.")
    for call_id in results:
        if call_id not in uncertain:
            raise InvalidInput("is no call of unknown outcome", path=f"results.{call_id}")
    if missing := [call_id for call_id in uncertain if call_id not in results]:
        raise InvalidInput(f"does not say what became of {', '.join(missing)}", path="results")


def _put_results(writer: JournalWriter, results: Mapping[str, Any]) -> None:
    context = writer.state.context_mutable()
    for call_id, dispatch in writer.projection.uncertain.items():
        context.append(outcome_message(context, call_id, dispatch.tool, results[call_id]))


def _repairs(actor: Actor, results: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {
        "repairs": [
            {"kind": REPAIR_RECONCILED, "call_id": call_id, "note": reason} for call_id in results
        ],
        "by": {"name": actor.name, "kind": str(actor.kind)},
    }
