"""The product's own document: AgentScope's fields, and the version of our additions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.interop.formats import Format
from agentadmin.engine.state.interop.sources import restored
from agentadmin.engine.state.reading import Reader

if TYPE_CHECKING:
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.interop.sources import Known
    from agentadmin.engine.state.interop.written import Source, Written
    from agentadmin.engine.state.reading import Raw

SCHEMA_VERSION = 1


def read(document: Any) -> AgentState:
    """The state of a native document; one of a later version is refused, not guessed at."""
    version = Reader(document).integer("schema_version", SCHEMA_VERSION)
    if version > SCHEMA_VERSION:
        raise DecodeError(
            f"version {version} is newer than {SCHEMA_VERSION}", path="schema_version"
        )
    state = AgentState.from_dict(document)
    state.extra.pop("schema_version", None)
    return state


def write(state: AgentState, source: Source | None = None) -> Written:
    """The document, which holds everything that a state holds."""
    return restored(Format.NATIVE, state, source, read, _document)


def _document(state: AgentState, _known: Known, _losses: Losses) -> Raw:
    return {**state.to_dict(), "schema_version": SCHEMA_VERSION}
