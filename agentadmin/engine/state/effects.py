"""What a change of state will mean, in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.clock import now
from agentadmin.engine.state.permissions import PermissionMode, ToolFacts, decide
from agentadmin.engine.state.plan import PlanModeContext
from agentadmin.engine.state.widening import added_rules, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import Behavior, PermissionContext

_MODES = {
    PermissionMode.DEFAULT: "asks for every call that no rule speaks about",
    PermissionMode.ACCEPT_EDITS: "lets reading and edits in working directories pass",
    PermissionMode.EXPLORE: "lets only reading pass",
    PermissionMode.BYPASS: "lets every call pass that no rule denies or asks about",
    PermissionMode.DONT_ASK: "denies every call that it would have to ask about",
}
_VERBS = {"allow": "will run", "deny": "will be denied", "ask": "will ask"}


def effects(before: AgentState, after: AgentState) -> list[str]:
    """One sentence for each thing that a person should know before saying yes."""
    return [
        *_messages(before, after),
        *_summary(before, after),
        *_permissions(before.permission_context, after.permission_context),
        *_plan(before.plan_mode_context, after.plan_mode_context),
        *_tasks(before, after),
    ]


def _messages(before: AgentState, after: AgentState) -> Iterator[str]:
    difference = len(after.context) - len(before.context)
    if difference < 0:
        one = difference == -1
        yield (
            f"{_count(-difference, 'message')} {'leaves' if one else 'leave'} the working context; "
            f"history keeps {'it' if one else 'them'}."
        )
    elif difference > 0:
        yield f"{_count(difference, 'message')} more in the working context."
    elif before.context != after.context:
        yield "Messages of the working context change."


def _summary(before: AgentState, after: AgentState) -> Iterator[str]:
    if before.summary == after.summary:
        return
    yield "The summary is replaced." if after.summary else "The summary is cleared."


def _permissions(before: PermissionContext, after: PermissionContext) -> Iterator[str]:
    if before.mode is not after.mode:
        yield f"The mode {after.mode} {_MODES[after.mode]}."
    for placed in added_rules(before, after):
        yield f"Adds {describe(placed)}."
    for placed in added_rules(after, before):
        yield f"Removes {describe(placed)}."
    for tool in _tools(before) | _tools(after):
        outcome = _outcome(after, tool)
        if outcome is not _outcome(before, tool):
            yield f"`{tool}` {_VERBS[outcome]} on its next call."


def _tools(context: PermissionContext) -> dict[str, None]:
    return {tool: None for _, tool, _ in context.rules()}


def _outcome(context: PermissionContext, tool: str) -> Behavior:
    """What a call comes to that no pattern matches and whose tool has no opinion."""
    return decide(context, PlanModeContext(), ToolFacts(tool), {}, now()).behavior


def _plan(before: PlanModeContext, after: PlanModeContext) -> Iterator[str]:
    if before.plan_active != after.plan_active:
        yield (
            "Plan mode begins: only reading and planning tools may run."
            if after.plan_active
            else "Plan mode ends."
        )


def _tasks(before: AgentState, after: AgentState) -> Iterator[str]:
    old, new = before.tasks_context.tasks, after.tasks_context.tasks
    if old != new:
        yield f"The task list has {_count(len(new), 'task')} instead of {len(old)}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
