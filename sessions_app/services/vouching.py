"""Operations that need to know who asks, or what the thread's agent has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async

from sessions_app.journal.configured import agent_spec

if TYPE_CHECKING:
    from sessions_app.services.resolving import Ground


async def resolve_decision(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """A requirement is decided in the name of whoever asks, never of somebody else."""
    return {**operation, "decided_by": ground.actor.name}


async def resolve_groups(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """Only groups that the agent's toolkit has; of an unknown agent nobody knows them."""
    spec = await sync_to_async(agent_spec)(ground.thread.agent_id)
    return operation if spec is None else {**operation, "known": spec.toolkit.groups}
