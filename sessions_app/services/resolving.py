"""Operations that need more than a state: what they need is looked up before they are applied.

An operation is a pure function of a state. One that needs more (the state of another version, a
summary by a model) has a resolver here, which returns the operation with what it found in the
fields that its `OperationSpec.given` names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async

from agentadmin.engine.clock import now
from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.state.mutations import apply, diff, effects
from sessions_app.journal.configured import agent_spec
from sessions_app.services.compacting import resolve_compact
from sessions_app.services.edits import Change
from sessions_app.services.redacting import resolve_redact
from sessions_app.services.restoring import resolve_restore
from sessions_app.services.vouching import resolve_decision, resolve_groups

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.base import ThreadJournalStore
    from agentadmin.engine.journal.facts import NewFact
    from agentadmin.engine.journal.projection import Item, ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import ToolFacts
    from sessions_app.models import AgentThread
    from sessions_app.services.edits import Edit


@dataclass(slots=True, kw_only=True)
class Ground:
    """What a resolver may look at, and what it adds to the commit."""

    actor: Actor
    thread: AgentThread
    journal: ThreadJournalStore
    projection: ThreadProjection
    state: AgentState
    """The state that the operation will be applied to, earlier operations included."""
    is_rehearsal: bool = False
    """Nothing will be committed: a dry run, or the check before an edit is left to a run."""
    items: list[Item] = field(default_factory=list)
    """Facts that hold messages which come back: the commit refers to them."""
    told: list[str] = field(default_factory=list)
    """Sentences about what the states before and after do not show."""
    notes: list[NewFact] = field(default_factory=list)
    """Facts that tell what was done; they are committed when the state changes."""
    always: list[NewFact] = field(default_factory=list)
    """Facts that are committed even where the newest state stays as it is."""


type Resolver = Callable[[dict[str, Any], Ground], Awaitable[dict[str, Any]]]

RESOLVERS: dict[str, Resolver] = {
    "restore": resolve_restore,
    "compact": resolve_compact,
    "redact_message": resolve_redact,
    "decide_requirement": resolve_decision,
    "activate_tool_groups": resolve_groups,
}


async def resolved_change(edit: Edit, ground: Ground) -> Change:
    """The state after all operations, each resolved on the state that it is applied to."""
    before, moment = ground.state, now()
    needed: set[str] = set()
    for index, (operation, spec) in enumerate(zip(edit.operations, edit.specs, strict=True)):
        resolved = await _resolved(operation, ground, index)
        after = apply(ground.state, resolved, now=moment, index=index)
        needed |= spec.needed(ground.state, after)
        ground.state = after
    found = diff(before, ground.state)
    return Change(
        before,
        ground.state,
        found,
        [*effects(before, ground.state, await _tools(before, ground)), *ground.told],
        frozenset(needed),
        tuple(ground.items),
        (*ground.always, *(ground.notes if found else ())),
    )


async def _tools(before: AgentState, ground: Ground) -> Sequence[ToolFacts]:
    """The tools that the thread's agent may call, where what they may do changes."""
    after = ground.state
    if before.permission_context == after.permission_context:
        return ()
    spec = await sync_to_async(agent_spec)(ground.thread.agent_id)
    if spec is None:
        return ()
    active = spec.toolkit.active(after.tool_context.activated_groups)
    return [tool.kind(spec.workspace) for tool in active.tools.values()]


async def _resolved(operation: dict[str, Any], ground: Ground, index: int) -> dict[str, Any]:
    resolver = RESOLVERS.get(operation["op"])
    if resolver is None:
        return operation
    try:
        return await resolver(operation, ground)
    except InvalidOperation as error:
        error.index = index
        raise
