"""Patterns over namespaces and agent ids: literal text with `*` for anything.

The same pattern is asked in memory (`matches`) and in the database (`pattern_filter`); both are
case-sensitive, which LIKE on SQLite is not.
"""

from __future__ import annotations

import re
from functools import lru_cache

from django.db.models import Q

ANYTHING = "*"


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> str:
    literal = (re.escape(part) for part in pattern.split(ANYTHING))
    return r"(?s)\A" + ".*".join(literal) + r"\Z"


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern names this text."""
    if ANYTHING not in pattern:
        return pattern == text
    return pattern == ANYTHING or re.search(_expression(pattern), text) is not None


def pattern_filter(field: str, pattern: str) -> Q:
    """The rows whose field the pattern names."""
    if pattern == ANYTHING:
        return Q()
    if ANYTHING not in pattern:
        return Q(**{field: pattern})
    return Q(**{f"{field}__regex": _expression(pattern)})
