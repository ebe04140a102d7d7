"""What writing a document gives: its value, its text, and what it could not take along."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

from agentadmin.engine.state import codec
from agentadmin.engine.state.interop.formats import Format
from agentadmin.engine.state.json_writer import JACKSON, Layout, write

PYDANTIC = Layout(colon=": ", indent=" ")
"""As AgentScope for Python saves a state: one space a level."""


_INDENT = re.compile(rb"\n( +)\1")


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
    """A `LossKind`."""
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
        if self.format is Format.PYTHON:
            return _pydantic(self.value)
        return codec.pretty(self.value)


def _pydantic(value: Any) -> str:
    """The fast writer's two spaces a level, halved; strings hold no line breaks of their own."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:  # what orjson cannot write
        return write(value, PYDANTIC)
    if b"null" in data and codec.holds_non_finite(value):
        return write(value, PYDANTIC)
    return _INDENT.sub(_halved, data).decode()


def _halved(found: re.Match[bytes]) -> bytes:
    return b"\n" + found[1]
