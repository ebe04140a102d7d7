"""The operation that brings an earlier version of a state back as the newest one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.needed import permissions_of_change
from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agentadmin.engine.state.reading import Reader


def _restore(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Everything is as it was, messages too; only the identity stays."""
    source = operation.raw.get("state")
    if not isinstance(source, AgentState):
        raise operation.refuse("version", "was not looked up")
    state.assume(source)


def restore_words(operation: Mapping[str, Any]) -> str:
    """What facts and versions call a restore: it names the version that came back."""
    return f"restore of version {operation.get('version')}"


RESTORE = OperationSpec(
    name="restore",
    permission="sessions:restore",
    substates=frozenset(
        {
            "context",
            "summary",
            "permission_context",
            "tool_context",
            "tasks_context",
            "plan_mode_context",
        }
    ),
    change=_restore,
    fields=frozenset({"version"}),
    given=frozenset({"state"}),
    needs=permissions_of_change,
    words=restore_words,
)
