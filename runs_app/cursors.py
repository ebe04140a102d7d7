"""The wire cursor: where in a thread's events a view stands (contract §3, *Websocket*).

`<last 8 hex of the thread's id>.<seq>-<n>`: fact `seq`, then the n-th delta after it. The prefix
tells another thread's cursor apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentadmin.engine.errors import BadCursor, CursorAhead, ForeignCursor

BEGINNING = "0"
_PREFIX = 8
_CURSOR = re.compile(r"([0-9a-f]{8})\.(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})")


class Position(NamedTuple):
    """A place in a thread's events: after fact `seq`, and after `n` deltas behind it."""

    seq: int
    n: int = 0

    def __str__(self) -> str:
        return f"{self.seq}-{self.n}"


START = Position(0)
LATE = 10**9
"""Where a fact has overtaken deltas, `n` counts from here and names no entry of the stream.

Whoever comes back with such a cursor gets the running blocks again, whose offsets make that
harmless; facts come once, as ever.
"""


def format(thread_id: str, seq: int, n: int = 0) -> str:
    """The cursor of a place in a thread's events."""
    return f"{thread_id[-_PREFIX:]}.{seq}-{n}"


def parse(text: str, thread_id: str, *, field: str = "after") -> Position:
    """The place that a cursor names. Raises BadCursor or ForeignCursor, naming the field."""
    if text == BEGINNING:
        return START
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise BadCursor("A cursor is `0` or `<8 hex>.<seq>-<n>`.", path=field)
    if match[1] != thread_id[-_PREFIX:]:
        raise ForeignCursor(path=field)
    return Position(int(match[2]), int(match[3]))


def check_ahead(position: Position, head_seq: int) -> None:
    """Refuse a cursor beyond what the thread holds: it comes from another database."""
    if position.seq > head_seq:
        raise CursorAhead(f"The cursor names fact {position.seq}; the last one is {head_seq}.")
