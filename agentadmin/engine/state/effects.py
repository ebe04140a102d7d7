"""What a change of state will mean, in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state import task_contract
from agentadmin.engine.state.message_diff import keyed
from agentadmin.engine.state.permissions import PermissionMode
from agentadmin.engine.state.redaction import is_redacted
from agentadmin.engine.state.tool_effects import tool_effects
from agentadmin.engine.state.widening import added_rules, describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import PermissionContext, ToolFacts
    from agentadmin.engine.state.plan import PlanModeContext

_MODES = {
    PermissionMode.DEFAULT: "asks for every call that no rule speaks about",
    PermissionMode.ACCEPT_EDITS: "lets reading and edits in working directories pass",
    PermissionMode.EXPLORE: "lets only what reads pass; ask and allow rules do not count in it",
    PermissionMode.BYPASS: "lets every call pass that no rule denies or asks about, and nothing "
    "dangerous without asking",
    PermissionMode.DONT_ASK: "denies every call that it would have to ask about",
}


def effects(before: AgentState, after: AgentState, tools: Iterable[ToolFacts] = ()) -> list[str]:
    """One sentence for each thing that a person should know before saying yes.

    `tools` are those that the agent has, where that is known: without them only what holds for any
    tool is said of calls.
    """
    old, new = before.permission_context, after.permission_context
    return [
        *_messages(before, after),
        *_summary(before, after),
        *_permissions(old, new),
        *tool_effects(old, new, after.plan_mode_context, tools),
        *_directories(old, new),
        *_plan(before.plan_mode_context, after.plan_mode_context),
        *_tasks(before, after),
        *_contract(before, after),
        *_groups(before, after),
    ]


def _messages(before: AgentState, after: AgentState) -> Iterator[str]:
    """Messages that leave and messages that come are told apart: a restore may do both."""
    if before.context == after.context:
        return
    old, new = keyed(before.context), keyed(after.context)
    gone, come = len(old.keys() - new.keys()), len(new.keys() - old.keys())
    if gone:
        yield (
            f"{_count(gone, 'message')} {'leaves' if gone == 1 else 'leave'} the working context; "
            f"history keeps {'it' if gone == 1 else 'them'}."
        )
    if come:
        yield f"{_count(come, 'message')} more in the working context."
    if not gone and not come:
        yield _rewritten(before, after)


def _rewritten(before: AgentState, after: AgentState) -> str:
    """Messages that say something else; a redaction is told as what it is."""
    gone = sum(
        is_redacted(new.raw) and old != new
        for old, new in zip(before.context, after.context, strict=True)
    )
    if not gone:
        return "Messages of the working context change."
    return f"{_count(gone, 'message')} redacted: the content is erased for good, history included."


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


def _directories(before: PermissionContext, after: PermissionContext) -> Iterator[str]:
    old = {each.path for each in before.working_directories.values()}
    new = {each.path for each in after.working_directories.values()}
    for path in sorted(new - old):
        yield f"In the mode accept_edits, edits of files in {path} pass without asking."
    for path in sorted(old - new):
        yield f"Edits of files in {path} no longer pass by themselves."


def _contract(before: AgentState, after: AgentState) -> Iterator[str]:
    """The task, its requirements and the checked subject."""
    old, new = before.tasks_context.extra, after.tasks_context.extra
    if old.get(task_contract.SCOPE) != new.get(task_contract.SCOPE):
        yield "Another task is the thread's task now."
    if old.get(task_contract.REQUIREMENTS) != new.get(task_contract.REQUIREMENTS):
        yield "The task's requirements change; checks of the old ones count as stale."
    if old.get(task_contract.SUBJECT_VERSION) != new.get(task_contract.SUBJECT_VERSION):
        yield "Another version of the subject counts; checks of the old one are stale."


def _groups(before: AgentState, after: AgentState) -> Iterator[str]:
    old = set(before.tool_context.activated_groups)
    new = set(after.tool_context.activated_groups)
    if added := sorted(new - old):
        yield f"The tools of {', '.join(added)} are offered from the next request on."
    if gone := sorted(old - new):
        yield f"The tools of {', '.join(gone)} are no longer offered."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
