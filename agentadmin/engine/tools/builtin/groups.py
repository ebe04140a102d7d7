"""`reset_equipped_tools`: an agent with many tools chooses which groups of them it is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from agentadmin.engine.tools.context import ToolContext


# In the loop, never in a thread: the state belongs to the run.
@tool(effect=Effect.NONE, read_only=False, plan_mode_allowed=True)
async def reset_equipped_tools(
    context: ToolContext,
    groups: Annotated[list[str] | None, "Exactly these are active afterwards"] = None,
) -> str:
    """Choose the groups of tools that are offered from now on; without groups, tell which exist."""
    state = context.runtime.agent_state
    if state is None:
        raise ToolError("there is no agent state here")
    known = ", ".join(context.groups) or "none"
    if groups is None:
        active = ", ".join(state.tool_context.activated_groups) or "none"
        return f"groups: {known}; active: {active}"
    if unknown := [group for group in groups if group not in context.groups]:
        raise ToolError(f"there is no group {unknown[0]:.60}; known: {known}")
    chosen = tuple(dict.fromkeys(groups))
    state.tool_context = replace(state.tool_context, activated_groups=chosen)
    return f"active: {', '.join(chosen) or 'none'}"
