"""The exact JSON writer: any nesting, any integer, any text, in three layouts.

It is the slow twin of orjson's writer and gives the same bytes for what orjson can write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, cast

import orjson

from agentadmin.engine.errors import InvalidInput, TooDeep

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 1000
"""What a document from outside may nest; ours, which wrap such ones, may nest a little deeper."""

_SURROGATES = re.compile("([\ud800-\udfff])")
_END = object()


@dataclass(frozen=True, slots=True)
class Layout:
    """How the parts of a text are spaced; `indent` is empty for one line."""

    colon: str = ":"
    indent: str = ""
    empty_object: str = "{}"
    empty_array: str = "[]"
    spaced_arrays: bool = False


COMPACT = Layout()
INDENTED = Layout(colon=": ", indent="  ")
# Jackson's default printer, as AgentScope for Java's file store uses it.
JACKSON = Layout(
    colon=" : ", indent="  ", empty_object="{ }", empty_array="[ ]", spaced_arrays=True
)


@dataclass(slots=True)
class _Open:
    """A container being written: what is left of it and what goes around its items."""

    items: Iterator[Any]
    keyed: bool
    lead: str
    separator: str
    close: str
    level: int


def write(value: Any, layout: Layout, levels: int = MAX_DEPTH) -> str:
    """The text of a value, without recursion."""
    out: list[str] = []
    stack: list[_Open] = []
    _begin(value, layout, stack, out, levels)
    while stack:
        top = stack[-1]
        item = next(top.items, _END)
        if item is _END:
            out.append(top.close)
            stack.pop()
            continue
        out.append(top.lead)
        top.lead = top.separator
        if top.keyed:
            key, item = cast(tuple[Any, Any], item)
            out.append(_key(key) + layout.colon)
        _begin(item, layout, stack, out, levels)
    return "".join(out)


def _begin(value: Any, layout: Layout, stack: list[_Open], out: list[str], levels: int) -> None:
    if not isinstance(value, dict | list | tuple):
        out.append(_scalar(value))
        return
    if len(stack) >= levels:
        raise TooDeep
    level = stack[-1].level if stack else 0
    if isinstance(value, dict):
        if value:
            stack.append(_open_object(value, layout, level))
        else:
            out.append(layout.empty_object)
    elif value:
        stack.append(_open_array(value, layout, level))
    else:
        out.append(layout.empty_array)


def _open_object(value: dict[Any, Any], layout: Layout, level: int) -> _Open:
    outer, inner = _breaks(layout, level)
    items = iter(value.items())
    return _Open(items, True, "{" + inner, "," + inner, outer + "}", level + 1)  # noqa: FBT003


def _open_array(value: list[Any] | tuple[Any, ...], layout: Layout, level: int) -> _Open:
    if layout.spaced_arrays:
        return _Open(iter(value), False, "[ ", ", ", " ]", level)  # noqa: FBT003
    outer, inner = _breaks(layout, level)
    return _Open(iter(value), False, "[" + inner, "," + inner, outer + "]", level + 1)  # noqa: FBT003


def _breaks(layout: Layout, level: int) -> tuple[str, str]:
    if not layout.indent:
        return "", ""
    return "\n" + layout.indent * level, "\n" + layout.indent * (level + 1)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"a key of an object must be text, not {type(key).__name__}")
    return _text(key)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool | Enum):
        return _integer(value)
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    try:
        return orjson.dumps(
            value, option=orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
        ).decode()
    except TypeError as error:
        raise InvalidInput(f"{type(value).__name__} cannot be written as JSON") from error


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError as error:  # more than 4300 digits
        raise InvalidInput("an integer has too many digits") from error


def _text(value: str) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates: every odd part is one
        parts = _SURROGATES.split(str(value))
        return '"' + "".join(map(_text_part, parts)) + '"'


def _text_part(part: str) -> str:
    if len(part) == 1 and "\ud800" <= part <= "\udfff":
        return f"\\u{ord(part):04x}"
    return orjson.dumps(part).decode()[1:-1]
