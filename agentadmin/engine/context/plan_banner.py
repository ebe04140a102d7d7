"""What the system prompt says about plan mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentadmin.engine.state.plan import PlanModeContext

_ON = (
    "Plan mode is on. Only read and plan: every tool that changes something is denied. Write the "
    "plan to {file} with plan_write, and ask for its approval with plan_exit."
)
_OFF = "Plan mode is off: the plan in {file} may be carried out now."


def plan_banner(plan: PlanModeContext) -> str:
    """A paragraph for the prompt's end; empty where no plan was ever made."""
    if plan.plan_active:
        return _ON.format(file=plan.current_plan_file or "the plan's file")
    return _OFF.format(file=plan.current_plan_file) if plan.current_plan_file else ""
