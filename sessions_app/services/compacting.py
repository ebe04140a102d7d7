"""The operation `compact`: the agent's own model writes the summary, before anything changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async

from agentadmin.engine.context.compaction import (
    Compaction,
    keep_budget,
    plan_by_count,
    plan_by_tokens,
    summarise,
)
from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.errors import InvalidOperation
from sessions_app.journal.configured import agent_spec

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.services.resolving import Ground

NOT_YET = "(the agent's model writes the summary when you confirm)"


async def resolve_compact(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """Plan the cut and ask the model. Raises ModelError when it fails, and nothing changes."""
    agent_id = ground.thread.agent_id
    spec = await sync_to_async(agent_spec)(agent_id)
    if spec is None:
        detail = f"the agent {agent_id:.60} is not defined here, so no model writes the summary"
        raise InvalidOperation(detail, path="op")
    found = _plan(operation, ground.state, spec.model.context_window)
    if not found.cut:
        raise InvalidOperation("there is nothing to compact", path="op")
    verb = "writes" if ground.is_rehearsal else "has written"
    ground.told.append(f"{spec.model.name} {verb} the summary of what leaves.")
    if ground.is_rehearsal:
        return {**operation, "cut": found.cut, "summary": NOT_YET}
    summary = await summarise(spec.model, found.head, ground.state.summary)
    return {**operation, "cut": found.cut, "summary": summary}


def _plan(operation: dict[str, Any], state: AgentState, window: int) -> Compaction:
    """By hand at least half goes, however much would fit; `keep_messages` says it exactly."""
    keep = operation.get("keep_messages")
    if keep is None:
        half = sum(map(estimate, state.context)) // 2
        return plan_by_tokens(state, min(keep_budget(window), half))
    if type(keep) is not int or keep < 0:
        raise InvalidOperation("must be a whole number, 0 or more", path="keep_messages")
    return plan_by_count(state, keep)
