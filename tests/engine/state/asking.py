"""Short ways to put one call before the permission decision."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.permissions import (
    Behavior,
    Decision,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    ToolFacts,
    decide,
)
from agentadmin.engine.state.plan import PlanModeContext

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
NO_PLAN = PlanModeContext()


def rule(
    behavior: str, tool: str, content: str | None = None, *, expires_at: str | None = None
) -> PermissionRule:
    return PermissionRule(tool, content, Behavior(behavior), "test", expires_at)


def context(*rules: PermissionRule, mode: str = "default") -> PermissionContext:
    made = PermissionContext(mode=PermissionMode(mode))
    for each in rules:
        made = made.with_rule(each)
    return made


def ask(
    made: PermissionContext,
    tool: ToolFacts,
    input: dict[str, Any] | None = None,
    *,
    plan: PlanModeContext = NO_PLAN,
    paths: Sequence[str] = (),
) -> Decision:
    return decide(made, plan, tool, input or {}, NOW, paths)


def run(command: str, *rules: PermissionRule, mode: str = "default") -> Decision:
    """The decision about one shell command."""
    shell = ToolFacts("execute", is_command=True, matcher="command")
    return ask(context(*rules, mode=mode), shell, {"command": command})
