"""State documents of other systems, and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.interop import java, native
from agentadmin.engine.state.interop.formats import Format, detect, named

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

__all__ = ["Format", "detect", "java", "named", "native", "read", "write"]

_READERS = {Format.NATIVE: native.read, Format.JAVA: java.read}
_WRITERS = {Format.NATIVE: native.write, Format.JAVA: java.write}


def read(document: Any, format: str = "auto") -> AgentState:
    """The state that a document holds; `auto` finds out whose document it is."""
    kind = detect(document) if format == "auto" else named(format)
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidInput(f"{kind} documents cannot be read yet", path="format")
    return reader(document)


def write(state: AgentState, format: str = Format.NATIVE) -> dict[str, Any]:
    """The document of a state in a format."""
    kind = named(format)
    writer = _WRITERS.get(kind)
    if writer is None:
        raise InvalidInput(f"{kind} documents cannot be written yet", path="format")
    return writer(state)
