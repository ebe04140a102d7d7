"""`todo_write` and the plan tools: what an agent notes down about its own work (spec §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from agentadmin.engine.clock import now
from agentadmin.engine.errors import DecodeError, ToolError
from agentadmin.engine.state.permissions import Behavior, ToolCheck
from agentadmin.engine.state.plan import DEFAULT_PLAN_FILE
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.todos import told, with_todos
from agentadmin.engine.tools.builtin.files import MAX_BYTES, confined, replace_file
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.tools.context import ToolContext

_TODO = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "status": {"type": "string", "description": "pending, in_progress or completed"},
            "priority": {"type": "string", "description": "high, medium or low"},
        },
        "required": ["content"],
    },
}


def _state(context: ToolContext) -> AgentState:
    """The state that the run goes on with; what changes in it is committed with the result."""
    state = context.runtime.agent_state
    if state is None:
        raise ToolError("there is no agent state here")
    return state


# Each runs in the loop, never in a thread: the state belongs to the run.
@tool(effect=Effect.NONE, read_only=False, plan_mode_allowed=True)
async def todo_write(
    todos: Annotated[list[Any], "The whole list; it replaces the one before", _TODO],
    context: ToolContext,
) -> str:
    """Replace the to-do list; at most one to-do is in progress."""
    state = _state(context)
    place = f"{state.session_id}\0{state.thread_id}"
    kept = [_known(todo) for todo in todos]
    try:
        after = with_todos(state.tasks_context, Reader({"todos": kept}), now(), place)
    except DecodeError as error:
        raise ToolError(f"{error.path}: {error.detail}") from error
    state.tasks_context = after
    return told(after)


def _known(todo: Any) -> Any:
    """Models add fields of their own; only what a to-do has is read."""
    if not isinstance(todo, dict):
        return todo
    return {k: v for k, v in todo.items() if k in ("content", "status", "priority")}


@tool(effect=Effect.NONE, read_only=False, plan_mode_allowed=True)
async def plan_enter(context: ToolContext) -> str:
    """Enter plan mode: only reading and planning, until the user approves the plan."""
    state = _state(context)
    state.plan_mode_context = state.plan_mode_context.entered(DEFAULT_PLAN_FILE)
    file = state.plan_mode_context.current_plan_file
    return f"Plan mode is on. Write the plan with plan_write ({file}), then call plan_exit."


@tool(effect=Effect.IDEMPOTENT, plan_mode_allowed=True)
async def plan_write(
    content: Annotated[str, "The whole plan as Markdown"], context: ToolContext
) -> str:
    """Write the plan, replacing what was there."""
    state = _state(context)
    file = state.plan_mode_context.current_plan_file or DEFAULT_PLAN_FILE
    data = content.encode("utf-8", errors="surrogatepass")
    if len(data) > MAX_BYTES:
        raise ToolError(f"a plan may have at most {MAX_BYTES} bytes")
    try:
        replace_file(confined(context, file), data)
    except OSError as error:
        raise ToolError(f"{file}: {error.strerror}") from error
    state.plan_mode_context = state.plan_mode_context.written(file)
    return f"wrote the plan to {file}"


def _must_ask(_arguments: Mapping[str, Any], _workspace: Path | None) -> ToolCheck:
    """A plan is approved by a person, whatever rules and modes say."""
    return ToolCheck(
        behavior=Behavior.ASK,
        message="Leaving plan mode needs the user's approval of the plan",
        bypassable=False,
    )


@tool(effect=Effect.NONE, read_only=False, plan_mode_allowed=True, check=_must_ask)
async def plan_exit(
    context: ToolContext,
    summary: Annotated[str | None, "The plan in a few sentences"] = None,
) -> str:
    """Leave plan mode and begin to act, once the user has approved the plan."""
    state = _state(context)
    if not state.plan_mode_context.plan_active:
        return "Plan mode was not on."
    state.plan_mode_context = state.plan_mode_context.left()
    file = state.plan_mode_context.current_plan_file
    return f"The plan is approved; plan mode is off. Follow {file}." + (
        f"\n{summary}" if summary else ""
    )
