"""Plan mode: while it is active, only tools that change nothing may run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from agentadmin.engine.state.reading import Raw, Reader

DEFAULT_PLAN_FILE = "plans/PLAN.md"

PLAN_MODE_TOOLS = frozenset(
    {
        "plan_enter",
        "plan_write",
        "plan_exit",
        "todo_write",
        "agent_spawn",
        "agent_send",
        "agent_list",
        "task_output",
        "task_list",
    }
)
"""Tools that plan mode allows although they are not read-only."""


@dataclass(frozen=True, slots=True)
class PlanModeContext:
    """Whether plan mode is active, and where the plan is written."""

    plan_active: bool = False
    current_plan_file: str | None = None
    extra: Raw = field(default_factory=dict)

    @classmethod
    def from_dict(cls, raw: Any, path: str = "plan_mode_context") -> Self:
        reader = Reader(raw, path)
        return cls(
            plan_active=reader.boolean("plan_active"),
            current_plan_file=reader.text("current_plan_file"),
            extra=reader.rest(("plan_active", "current_plan_file")),
        )

    def to_dict(self) -> Raw:
        return {
            "plan_active": self.plan_active,
            "current_plan_file": self.current_plan_file,
        } | self.extra

    def entered(self, default_file: str) -> PlanModeContext:
        """Active; a file that is recorded already stays the plan's."""
        return replace(
            self, plan_active=True, current_plan_file=self.current_plan_file or default_file
        )

    def written(self, file: str) -> PlanModeContext:
        """With the file that the plan was written to, whether plan mode is on or not."""
        return self if file == self.current_plan_file else replace(self, current_plan_file=file)

    def left(self) -> PlanModeContext:
        """Inactive; the file stays recorded. Leaving twice changes nothing."""
        return replace(self, plan_active=False) if self.plan_active else self
