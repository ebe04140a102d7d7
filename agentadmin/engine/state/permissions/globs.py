"""Path patterns of rules: `*` stays inside a segment, `**` stands for any number of segments.

Matching takes time linear in pattern times path: a pattern may come from an imported file.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ANY = "**"


def matches_anywhere(pattern: str, path: str) -> bool:
    """For what forbids: a relative pattern may begin in any directory."""
    segments = _segments(pattern)
    return _matches(segments if pattern.startswith("/") else (_ANY, *segments), _segments(path))


def matches_below(pattern: str, path: str, roots: Iterable[str]) -> bool:
    """For what allows: a relative pattern begins in one of the roots."""
    if pattern.startswith("/"):
        return _matches(_segments(pattern), _segments(path))
    inside = (path[len(root.rstrip("/")) :] for root in roots if is_inside(path, root))
    return any(_matches(_segments(pattern), _segments(rest)) for rest in inside)


def is_inside(path: str, root: str) -> bool:
    """Whether a normalised path is the root or lies below it."""
    base = root.rstrip("/")
    return bool(root) and (path == base or path.startswith(base + "/"))


def escape(path: str) -> str:
    """The pattern that matches exactly this path."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _segments(text: str) -> tuple[str, ...]:
    """A closing slash means everything below."""
    named = text + _ANY if text.endswith("/") and text != "/" else text
    return tuple(part for part in named.split("/") if part not in ("", "."))


def _matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    at = place = resume = 0
    star = -1
    while place < len(path):
        if at < len(pattern) and pattern[at] == _ANY:
            star, resume = at, place
            at += 1
        elif at < len(pattern) and _segment(pattern[at]).match(path[place]):
            at += 1
            place += 1
        elif star >= 0:  # let the last `**` take one segment more
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return all(part == _ANY for part in pattern[at:])


@lru_cache(maxsize=1024)
def _segment(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
