"""AgentScope for Java: its state document, its printed form, and what 1.x left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import Msg
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.json_writer import JACKSON
from agentadmin.engine.state.json_writer import write as write_json
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.tool_context import ToolContext

if TYPE_CHECKING:
    from collections.abc import Sequence


def read(document: Any) -> AgentState:
    return AgentState.from_dict(document)


def write(state: AgentState) -> dict[str, Any]:
    """Java ignores fields it does not know, so that what it cannot hold does no harm there."""
    return state.to_dict()


def write_text(state: AgentState) -> str:
    """The text that Java's file store holds, to the byte."""
    return write_json(write(state), JACKSON)


def read_legacy(
    memory_messages: Sequence[Any] | None,
    toolkit_groups: Any,
    *,
    session_id: str,
    user_id: str | None,
) -> AgentState | None:
    """The state of a 1.x session, or None when there is none.

    A group list that is there but empty means that no group is active; the session has the
    identity of its slot, as its keys hold none.
    """
    if not memory_messages and toolkit_groups is None:
        return None
    state = AgentState.new(session_id, user_id)
    state.set_context(
        Msg.from_dict(raw, f"memory_messages[{index}]")
        for index, raw in enumerate(memory_messages or ())
    )
    if toolkit_groups is not None:
        groups = Reader(toolkit_groups, "toolkit_activeGroups").texts("activeGroups")
        state.tool_context = ToolContext(activated_groups=groups)
    return state
