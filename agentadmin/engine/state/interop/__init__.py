"""State documents of other systems, and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.interop import java, native
from agentadmin.engine.state.interop.formats import Format, detect, named
from agentadmin.engine.state.interop.written import Loss, Source, Written

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

__all__ = [
    "Format",
    "Loss",
    "Source",
    "Written",
    "detect",
    "java",
    "named",
    "native",
    "read",
    "write",
]

_READERS = {Format.NATIVE: native.read, Format.JAVA: java.read}
_WRITERS = {Format.NATIVE: native.write, Format.JAVA: java.write}


def read(document: Any, format: str = "auto") -> AgentState:
    """The state that a document holds; `auto` finds out whose document it is."""
    kind = detect(document) if format == "auto" else named(format)
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidInput(f"{kind} documents cannot be read yet", path="format")
    return reader(document)


def write(
    state: AgentState, format: str = Format.NATIVE, *, source: Source | None = None
) -> Written:
    """The document of a state in a format, and what it could not take along.

    With the document that the state came from, what nobody touched since goes out as it came.
    """
    kind = named(format)
    writer = _WRITERS.get(kind)
    if writer is None:
        raise InvalidInput(f"{kind} documents cannot be written yet", path="format")
    return Written(kind, writer(state))
