"""JSON Pointer (RFC 6901): finding and changing places in a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_POINTER = 4_000
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_BAD_ESCAPE = re.compile(r"~(?![01])")
END = "-"
"""The place after the last element of an array."""


def steps_of(pointer: Any) -> tuple[str, ...]:
    """The steps of a pointer; none for the whole document."""
    if not isinstance(pointer, str):
        raise InvalidInput("must be text: a JSON Pointer")
    if (pointer and not pointer.startswith("/")) or _BAD_ESCAPE.search(pointer):
        raise InvalidInput("is no JSON Pointer, such as /context/0")
    if len(pointer) > MAX_POINTER:
        raise InvalidInput(f"must have at most {MAX_POINTER} characters")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def value_at(document: Any, steps: Sequence[str]) -> Any:
    """What the steps lead to."""
    value = document
    for number, step in enumerate(steps):
        value = value[_existing(value, step, steps[:number])]
    return value


def put(document: Any, steps: Sequence[str], value: Any) -> None:
    """Add: a member is set, an element is inserted; not for the whole document."""
    parent = value_at(document, steps[:-1])
    if isinstance(parent, dict):
        parent[steps[-1]] = value
    elif isinstance(parent, list):
        parent.insert(_place(parent, steps[-1], steps), value)
    else:
        raise InvalidInput(f"{_told(steps[:-1])} is neither an object nor an array")


def set_at(document: Any, steps: Sequence[str], value: Any) -> None:
    """Replace what stands there; not for the whole document."""
    parent = value_at(document, steps[:-1])
    parent[_existing(parent, steps[-1], steps[:-1])] = value


def take(document: Any, steps: Sequence[str]) -> Any:
    """Remove what stands there and give it back; not for the whole document."""
    parent = value_at(document, steps[:-1])
    return parent.pop(_existing(parent, steps[-1], steps[:-1]))


def _existing(value: Any, step: str, before: Sequence[str]) -> Any:
    if isinstance(value, dict) and step in value:
        return step
    if isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
        return int(step)
    raise InvalidInput(f"nothing stands at {_told([*before, step])}")


def _place(array: list[Any], step: str, steps: Sequence[str]) -> int:
    if step == END:
        return len(array)
    if not _INDEX.fullmatch(step) or int(step) > len(array):
        raise InvalidInput(f"{_told(steps)} is no place in an array of {len(array)}")
    return int(step)


def _told(steps: Sequence[str]) -> str:
    pointer = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
    return pointer[:200] or "the document"
