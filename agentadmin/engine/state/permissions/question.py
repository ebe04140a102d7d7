"""One call before the gate: everything that a decision may look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.permissions.shell import Command, parse
from agentadmin.engine.state.permissions.vocabulary import Behavior, PermissionMode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agentadmin.engine.state.permissions.context import PermissionContext, PermissionRule
    from agentadmin.engine.state.permissions.facts import ToolFacts
    from agentadmin.engine.state.plan import PlanModeContext


@dataclass(frozen=True)
class Question:
    """May this tool be called with this input, now?"""

    context: PermissionContext
    plan: PlanModeContext
    tool: ToolFacts
    input: Mapping[str, Any]
    now: datetime
    paths: tuple[str, ...]

    @property
    def mode(self) -> PermissionMode:
        return self.context.mode

    @cached_property
    def command_text(self) -> str | None:
        """The command line, of a tool that takes one."""
        if not self.tool.is_command and self.tool.matcher != "command":
            return None
        text = self.input.get("command")
        return text if isinstance(text, str) else None

    @cached_property
    def command(self) -> Command:
        return parse(self.command_text or "")

    @property
    def roots(self) -> tuple[str, ...]:
        """Where relative patterns of allow rules begin."""
        directories = (each.path for each in self.context.working_directories.values())
        return (self.tool.root, *directories)

    def check(self, behavior: Behavior) -> bool:
        """Whether the tool itself says this of the call."""
        return self.tool.check is not None and self.tool.check.behavior is behavior

    @property
    def must_ask(self) -> bool:
        """The tool asks, and neither a rule nor a mode may answer for the user."""
        check = self.tool.check
        return self.check(Behavior.ASK) and check is not None and not check.bypassable

    def rules(self, behavior: Behavior) -> tuple[PermissionRule, ...]:
        """The rules about this tool that still count, in order."""
        rules = self.context.table(behavior).get(self.tool.name, ())
        return tuple(rule for rule in rules if not rule.expired(self.now))
