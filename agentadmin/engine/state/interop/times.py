"""Times and token counts of messages: the same facts in two spellings."""

from __future__ import annotations

import re
from typing import Any

Raw = dict[str, Any]

# 2026-06-02 09:15:00.123, Java's; Python's has a T and microseconds.
_JAVA_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{3})")
_PYTHON_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{3})\d{0,3})?")

_JAVA_TO_PYTHON = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cachedTokens": "cache_input_tokens",
}
_PYTHON_TO_JAVA = {theirs: ours for ours, theirs in _JAVA_TO_PYTHON.items()}
_DERIVED = frozenset({"totalTokens"})


def python_time(text: str) -> str:
    """Java's time as Python writes it; one of another form stays as it is."""
    found = _JAVA_TIME.fullmatch(text)
    return f"{found[1]}T{found[2]}.{found[3]}000" if found else text


def java_time(text: str) -> str:
    """Python's time as Java writes it; one of another form stays as it is."""
    found = _PYTHON_TIME.fullmatch(text)
    return f"{found[1]} {found[2]}.{found[3] or '000'}" if found else text


def python_usage(usage: Raw) -> tuple[Raw, list[str]]:
    """Python's token counts, and the names of what they have no place for."""
    known = {python: _count(usage.get(java)) for java, python in _JAVA_TO_PYTHON.items()}
    left = [name for name in usage if name not in _JAVA_TO_PYTHON and name not in _DERIVED]
    return {**known, "cache_creation_input_tokens": 0}, left


def java_usage(usage: Raw) -> tuple[Raw, list[str]]:
    """Java's token counts, and the names of what they have no place for."""
    counts = {java: _count(usage.get(python)) for python, java in _PYTHON_TO_JAVA.items()}
    left = [name for name, value in usage.items() if name not in _PYTHON_TO_JAVA and value]
    total = counts["inputTokens"] + counts["outputTokens"]
    return {**counts, "time": 0.0, "totalTokens": total}, left


def added_usage(one: Any, other: Any) -> Any:
    """The counts of two rounds of one reply."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one if isinstance(one, dict) else other
    names = one | other
    return {name: _count(one.get(name)) + _count(other.get(name)) for name in names}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
