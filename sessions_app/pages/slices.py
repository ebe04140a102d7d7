"""A big JSON document a slice at a time, by JSON Pointer: the browser gets what it can draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from agentadmin.engine.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

AT_ONCE = 50
MAX_POINTER = 2_000


@dataclass(frozen=True, slots=True)
class Link:
    """Another slice of the same document."""

    label: str
    query: str


@dataclass(frozen=True, slots=True)
class Slice:
    """What a pointer names, at most fifty children of it, and the slices around it."""

    pointer: str
    value: Any
    crumbs: Sequence[Link]
    children: Sequence[Link]
    total: int
    start: int
    earlier: str
    later: str

    @property
    def end(self) -> int:
        """The number of the last child that is shown."""
        return min(self.start + AT_ONCE, self.total)


def slice_at(document: Any, pointer: str, start: int = 0) -> Slice:
    """The slice at a pointer. Raises InvalidInput for no pointer, NotFound where nothing is."""
    tokens = tokens_of(pointer)
    value = resolve(document, tokens)
    total = len(value) if isinstance(value, dict | list) else 0
    start = min(max(start, 0), max(total - 1, 0)) // AT_ONCE * AT_ONCE
    keys = _keys(value)[start : start + AT_ONCE]
    children = [
        Link(str(key), _query(_pointer([*tokens, str(key)])))
        for key in keys
        if isinstance(value[key], dict | list) and value[key]
    ]
    return Slice(
        pointer=pointer,
        value=_window(value, keys) if total > AT_ONCE else value,
        crumbs=_crumbs(tokens),
        children=children,
        total=total,
        start=start,
        earlier=_query(pointer, max(start - AT_ONCE, 0)) if start else "",
        later=_query(pointer, start + AT_ONCE) if start + AT_ONCE < total else "",
    )


def tokens_of(pointer: str) -> list[str]:
    """The steps of a JSON Pointer (RFC 6901)."""
    if len(pointer) > MAX_POINTER or (pointer and not pointer.startswith("/")):
        raise InvalidInput("is no JSON Pointer, such as /context/0", path="pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def resolve(document: Any, tokens: Sequence[str]) -> Any:
    """What the steps lead to."""
    value = document
    for token in tokens:
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isascii() and token.isdigit():
            index = int(token[:12])
            if index >= len(value):
                raise NotFound("Nothing stands at this pointer.")
            value = value[index]
        else:
            raise NotFound("Nothing stands at this pointer.")
    return value


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def _window(value: Any, keys: Sequence[Any]) -> Any:
    return {str(key): value[key] for key in keys}


def _crumbs(tokens: Sequence[str]) -> list[Link]:
    links = [Link("state", _query(""))]
    for n, token in enumerate(tokens, start=1):
        links.append(Link(token, _query(_pointer(tokens[:n]))))
    return links


def _pointer(tokens: Sequence[str]) -> str:
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def _query(pointer: str, start: int = 0) -> str:
    return urlencode({"pointer": pointer} | ({"from": start} if start else {}), errors="replace")
