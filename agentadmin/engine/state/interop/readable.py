"""What AgentScope for Python's JSON reader refuses although it is JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.reading import Raw

MAX_LEVELS = 199
"""How deep that reader follows."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_INSTEAD = "\ufffd"


def readable(document: Raw, losses: Losses) -> Raw:
    """The document without lone surrogates; what nests too deep for it is told."""
    for name, value in document.items():
        if (levels := _levels(value)) >= MAX_LEVELS:
            losses.ignored(
                name, f"it nests {levels} levels, of which AgentScope for Python reads {MAX_LEVELS}"
            )
    try:
        orjson.dumps(document)
    except TypeError:  # lone surrogates, or what else that writer does not know
        return _without_surrogates(document, losses)
    return document


def _levels(value: Any) -> int:
    levels = 0
    level = [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        levels += 1
        level = [
            child for each in level for child in (each.values() if isinstance(each, dict) else each)
        ]
    return levels


def _without_surrogates(document: Raw, losses: Losses) -> Raw:
    root: list[Any] = [document]
    stack: list[tuple[Any, Any, str]] = [(root, 0, "")]
    while stack:
        holder, key, path = stack.pop()
        value = holder[key]
        if isinstance(value, str) and _SURROGATE.search(value):
            holder[key] = _mended(value, path, losses)
        elif isinstance(value, dict):
            copy = {_mended(name, path, losses): each for name, each in value.items()}
            holder[key] = copy
            stack.extend((copy, name, f"{path}.{name}" if path else name) for name in copy)
        elif isinstance(value, list):
            holder[key] = list(value)
            stack.extend((holder[key], index, f"{path}[{index}]") for index in range(len(value)))
    mended: Raw = root[0]
    return mended


def _mended(text: str, path: str, losses: Losses) -> str:
    mended, found = _SURROGATE.subn(_INSTEAD, text)
    if found:
        losses.changed(path, "half a character cannot be read there")
    return mended
