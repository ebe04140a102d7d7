"""A permission context as the decision reads it: thirteen steps, with the rules at their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from agentadmin.engine.clock import now
from agentadmin.engine.state.permissions import Behavior, PermissionMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import PermissionContext, PermissionRule

MODES = (
    (PermissionMode.DEFAULT, "asks"),
    (PermissionMode.ACCEPT_EDITS, "edits pass"),
    (PermissionMode.EXPLORE, "read only"),
    (PermissionMode.DONT_ASK, "denies"),
    (PermissionMode.BYPASS, ""),
)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule at the step that its table gives it."""

    tool: str
    rule: PermissionRule
    expired: bool
    remove_query: str
    odd: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the decision; `answer` is what it says where it decides at all."""

    number: int
    text: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class StepGroup:
    """A step with its rules, or a run of steps that have none and stay quiet."""

    steps: Sequence[Step]
    title: str = ""
    note: str = ""
    rules: Sequence[RuleRow] = ()


def step_groups(state: AgentState) -> list[StepGroup]:
    """The thirteen steps in order, empty ones in one quiet line."""
    context = state.permission_context
    mode = context.mode
    plan = _is_on(state.plan_mode_context.plan_active)
    other = ("dont_ask denies", "deny") if mode is PermissionMode.DONT_ASK else ("otherwise", "ask")
    groups = [
        _quiet(Step(1, f"plan mode, {plan}")),
        _ruled(context, 2, Behavior.DENY, "Deny rules", ", nothing can overrule them"),
        _quiet(
            Step(3, "tool check"),
            Step(4, "safety check, cannot be bypassed"),
            Step(5, f"explore mode, {_is_on(mode is PermissionMode.EXPLORE)}"),
        ),
        _ruled(context, 6, Behavior.ASK, "Ask rules"),
        _quiet(Step(7, "tool check says allow")),
        _ruled(context, 8, Behavior.ALLOW, "Allow rules"),
        _quiet(
            Step(9, f"accept_edits, {_is_on(mode is PermissionMode.ACCEPT_EDITS)}"),
            Step(10, "read-only command", "allow"),
            Step(11, "tool asks by itself", "ask"),
            Step(12, f"bypass, {_is_on(mode is PermissionMode.BYPASS)}"),
            Step(13, *other),
        ),
    ]
    return _joined(groups)


def rule_count(context: PermissionContext) -> int:
    """How many rules there are."""
    return sum(1 for _ in context.rules())


def _quiet(*steps: Step) -> StepGroup:
    return StepGroup(steps)


def _ruled(
    context: PermissionContext, number: int, behavior: Behavior, title: str, note: str = ""
) -> StepGroup:
    at = now()
    rows = [
        RuleRow(tool, rule, rule.expired(at), _remove_query(behavior, tool, rule), _odd(tool, rule))
        for effect, tool, rule in context.rules()
        if effect is behavior
    ]
    step = Step(number, title.lower(), behavior.value)
    return StepGroup((step,), title, note, rows) if rows else StepGroup((step,))


def _joined(groups: list[StepGroup]) -> list[StepGroup]:
    """Runs of quiet steps become one line."""
    joined: list[StepGroup] = []
    for group in groups:
        if joined and not group.rules and not joined[-1].rules:
            joined[-1] = StepGroup((*joined[-1].steps, *group.steps))
        else:
            joined.append(group)
    return joined


def _remove_query(behavior: Behavior, tool: str, rule: PermissionRule) -> str:
    key = {"behavior": behavior.value, "tool_name": tool, "source": rule.source}
    if rule.rule_content:
        key["rule_content"] = rule.rule_content
    return urlencode(key, errors="replace")


def _odd(tool: str, rule: PermissionRule) -> str:
    """An imported rule may name another tool than the one it is filed under, which it decides."""
    return f"says {rule.tool_name}" if rule.tool_name != tool else ""


def _is_on(active: bool) -> str:  # noqa: FBT001 - the one thing it says
    return "on" if active else "off"
