"""What writing a document gives: its value, its text, and what it could not take along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentadmin.engine.state import codec
from agentadmin.engine.state.interop.formats import Format
from agentadmin.engine.state.json_writer import JACKSON, write


@dataclass(frozen=True, slots=True)
class Source:
    """The document that a state was imported from, so that untouched parts go out as they came."""

    format: Format
    value: Any


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the written document does not say, or that its reader will not heed.

    The path is the state's own; where the same happened often, it is the first one's.
    """

    path: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Written:
    """A document in a format, and what it cost."""

    format: Format
    value: Any
    losses: tuple[Loss, ...] = ()

    def text(self) -> str:
        """The document as its own system writes it."""
        if self.format is Format.JAVA:
            return write(self.value, JACKSON)
        return codec.pretty(self.value)
