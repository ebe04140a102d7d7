"""AgentScope for Java: its state document, and what 1.x left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.identity import MAIN_THREAD, new_hex
from agentadmin.engine.messages import Msg
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.interop.aside import (
    ASIDE,
    FIELDS,
    LAYOUT,
    aside_of,
    meaningful,
    summary_blocks,
)
from agentadmin.engine.state.interop.foreign import LEGACY_FIELDS, STATE_FIELDS
from agentadmin.engine.state.interop.formats import Format
from agentadmin.engine.state.interop.java_blocks import NO_PLACE
from agentadmin.engine.state.interop.java_messages import java_context
from agentadmin.engine.state.interop.rules import lasting_rules
from agentadmin.engine.state.interop.sources import restored
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.tool_context import ToolContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.interop.sources import Known
    from agentadmin.engine.state.interop.written import Source, Written
    from agentadmin.engine.state.reading import Raw

_UNKNOWN = "AgentScope for Java does not know this field"
_KNOWN = frozenset(AgentState.new("", None).to_dict())


def is_legacy(document: Any) -> bool:
    """Whether it is what AgentScope 1.x kept: messages, one message or tool groups, no state."""
    if not isinstance(document, dict):
        return isinstance(document, list)
    if STATE_FIELDS & document.keys():
        return False
    return bool(LEGACY_FIELDS & document.keys()) or document.keys() >= {"role", "content"}


def read(document: Any) -> AgentState:
    """The state of a document: a state, or the messages or groups of a 1.x session."""
    if not is_legacy(document):
        return AgentState.from_dict(document)
    if isinstance(document, list):
        return _legacy(document, None)
    if not LEGACY_FIELDS & document.keys():
        return _legacy([document], None)
    groups = document if "activeGroups" in document else document.get("toolkit_activeGroups")
    return _legacy(Reader(document).array("memory_messages") or None, groups)


def write(state: AgentState, source: Source | None = None) -> Written:
    """The document; one that Java wrote itself goes out again as it came, where untouched.

    Java ignores fields that it does not know, so that those do no harm there.
    """
    return restored(Format.JAVA, state, source, read, _document)


def _document(state: AgentState, known: Known, losses: Losses) -> Raw:
    raw: Raw = {}
    for name, value in state.substates().items():
        if name in FIELDS:
            continue
        raw[name] = value
        if name not in _KNOWN and name != "thread_id":
            losses.ignored(name, _UNKNOWN)
        if name == "summary":
            raw["context"] = java_context(state.context, known, losses)
    raw["permission_context"] = lasting_rules(state.permission_context, losses)
    raw["tool_context"] = _tools(state, losses)
    _tell_ignored(state, losses)
    _tell_aside(state, losses)
    return raw


def _tools(state: AgentState, losses: Losses) -> Raw:
    raw = state.tool_context.to_dict()
    if raw.pop("read_file_cache", None):
        losses.dropped("tool_context.read_file_cache", NO_PLACE)
    for name in state.tool_context.extra:
        if name != "read_file_cache":
            losses.ignored(f"tool_context.{name}", _UNKNOWN)
    return raw


def _tell_ignored(state: AgentState, losses: Losses) -> None:
    if state.thread_id != MAIN_THREAD:
        losses.ignored("thread_id", "AgentScope for Java has one thread")
    for name in state.plan_mode_context.extra:
        losses.ignored(f"plan_mode_context.{name}", _UNKNOWN)
    for name in state.tasks_context.extra:
        losses.ignored(f"tasks_context.{name}", "AgentScope for Java 2.0 forgets it")
    for index, task in enumerate(state.tasks_context.tasks):
        for name in task.extra:
            losses.ignored(f"tasks_context.tasks[{index}].{name}", _UNKNOWN)


def _tell_aside(state: AgentState, losses: Losses) -> None:
    if summary_blocks(state):
        losses.changed("summary", "a summary is plain text there")
    for name, value in aside_of(state).items():
        if name != LAYOUT and meaningful(value):
            losses.dropped(f"{ASIDE}.{name}", NO_PLACE)


def _legacy(messages: list[Any] | None, groups: Any) -> AgentState:
    state = read_legacy(messages, groups, session_id=new_hex(), user_id=None)
    if state is None:
        raise DecodeError("There is no message and no tool group in it.")
    return state


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
