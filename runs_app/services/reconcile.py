"""Recording what became of tool calls that were cut off: nothing is executed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.agents.calls import last_assistant
from agentadmin.engine.agents.reconcile import reconcile_outcomes
from agentadmin.engine.errors import ThreadBusy
from runs_app.dispatch import dispatch_on_commit
from runs_app.models import Turn
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
    reason: str | None,
    request_id: str | None = None,
) -> Receipt:
    """Give each call of unknown outcome its result: exactly those, all at once.

    The turn then goes on, or ends as it was about to when it was cut off.
    """
    require_thread(actor, RECONCILE, thread)
    why = checked_reason(reason)
    body = {"results": dict(results), "reason": why}
    given = Once.of(actor, "reconcileTools", str(thread.id), request_id, body)
    return once(given, lambda key: _record(actor, thread, results, why, key))


@transaction.atomic
def _record(
    actor: Actor, thread: AgentThread, results: Mapping[str, Any], reason: str, key: Once
) -> Receipt:
    thread = locked(thread)
    head = head_row(str(thread.id))
    if head is not None and head.live:
        raise ThreadBusy(thread.active_run_id or "")
    writer = edit_writer(thread, actor)
    uncertain = list(writer.projection.uncertain.values())
    by = {"name": actor.name, "kind": str(actor.kind)}
    async_to_sync(reconcile_outcomes)(writer, results, reason, name=_agent_name(writer), by=by)
    turn_id = uncertain[0].turn_id
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


def _agent_name(writer: JournalWriter) -> str:
    """A tool message carries the name of the agent that called."""
    context = writer.state.context_mutable()
    index = last_assistant(context)
    return "" if index is None else context[index].name or ""
