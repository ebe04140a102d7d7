"""Operations on the conversation that a model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader


def _clear_context(state: AgentState, _operation: Reader, _now: datetime) -> None:
    """Messages and summary leave the working context; everything else stays."""
    state.set_context(())
    state.summary = ""


def _set_summary(state: AgentState, operation: Reader, _now: datetime) -> None:
    if "summary" not in operation.raw:
        raise operation.refuse("summary", "is missing")
    state.summary = operation.text("summary")


CLEAR_CONTEXT = OperationSpec(
    name="clear_context",
    permission="sessions:clear",
    substates=frozenset({"context", "summary"}),
    change=_clear_context,
)
SET_SUMMARY = OperationSpec(
    name="set_summary",
    permission="sessions:edit_summary",
    substates=frozenset({"summary"}),
    change=_set_summary,
    fields=frozenset({"summary"}),
)
