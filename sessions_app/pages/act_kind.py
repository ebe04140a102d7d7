"""What an act on a state is to the pages: its words, its fields, what it leaves alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.forms import OperationForm

PERMISSION_REASONS = (
    "Response to an incident",
    "Tighten after review",
    "Asked by owner",
    "Temporary grant",
)


@dataclass(frozen=True, slots=True)
class ActKind:
    """One operation of `updateAgentState` as a dialog."""

    op: str
    form: type[OperationForm]
    title: str
    lead: str
    button: str
    permission: str
    icon: str = ""
    danger: bool = False
    fields: str = ""
    """The template of its fields; without one the dialog opens with its dry run."""
    keep: str = "Keep it as it is"
    leaves_title: str = "Changes"
    reasons: tuple[str, ...] = ()
    tab: str = "permissions"
    touches_messages: bool = False
    kept: tuple[str, ...] = ()
    """What it leaves alone, where it says so itself."""
    initial: Callable[[AgentState], dict[str, Any]] | None = None
    """What its fields hold at first, told from the state as it is."""

    def stays(self, state: AgentState) -> list[str]:
        """What the act leaves alone, with the numbers that a person would check."""
        if self.kept:
            return list(self.kept)
        context = state.permission_context
        rules = sum(1 for _ in context.rules())
        if self.op == "clear_context":
            return [
                "the full history, for people",
                f"{rules} rules, mode {context.mode}, "
                f"{len(context.working_directories)} directories",
                f"tools, {len(state.tasks_context.tasks)} tasks, plan",
            ]
        if self.tab == "permissions":
            return ["messages, summary and history", "the other rules", "tools, tasks and plan"]
        return ["messages and history", f"{rules} rules and the mode", "tools, tasks and plan"]
