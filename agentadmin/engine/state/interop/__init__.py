"""State documents of other systems, and our own: read, told apart, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.interop import java, native, python
from agentadmin.engine.state.interop.foreign import refuse_foreign
from agentadmin.engine.state.interop.formats import Format, detect, named
from agentadmin.engine.state.interop.losses import LossKind
from agentadmin.engine.state.interop.odd import Oddity, oddities
from agentadmin.engine.state.interop.parked import ParkedCall, ParkedKind, parked_calls
from agentadmin.engine.state.interop.written import Loss, Source, Written

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

__all__ = [
    "Format",
    "Loss",
    "LossKind",
    "Oddity",
    "ParkedCall",
    "ParkedKind",
    "Source",
    "Written",
    "detect",
    "java",
    "named",
    "native",
    "oddities",
    "parked_calls",
    "python",
    "read",
    "write",
]

_READERS = {Format.NATIVE: native.read, Format.JAVA: java.read, Format.PYTHON: python.read}
_WRITERS = {Format.NATIVE: native.write, Format.JAVA: java.write, Format.PYTHON: python.write}


def read(document: Any, format: str = "auto") -> AgentState:
    """The state that a document holds; `auto` finds out whose document it is.

    Raises DecodeError with the path of what is wrong, also for a document of another product.
    """
    if format == "auto":
        return _READERS[detect(document)](document)
    kind = named(format)
    refuse_foreign(document)
    return _READERS[kind](document)


def write(
    state: AgentState, format: str = Format.NATIVE, *, source: Source | None = None
) -> Written:
    """The document of a state in a format, and what it could not take along.

    With the document that the state came from, what nobody touched since goes out as it came.
    """
    return _WRITERS[named(format)](state, source)
