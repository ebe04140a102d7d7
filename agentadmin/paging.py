"""Limits, cursors and ids of lists, the same for every list of the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Page[Row]:
    """Some rows, and where the next ones begin (None: these are the last)."""

    items: Sequence[Row]
    next_cursor: str | None


def checked_limit(limit: int) -> int:
    """The limit of a page, refused when it is out of range."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"must be from 1 to {MAX_LIMIT}", path="limit")
    return limit


def row_id(text: object) -> UUID:
    """A row's public id; what is none names no row."""
    try:
        return text if isinstance(text, UUID) else UUID(str(text))
    except ValueError:
        raise NotFound from None


def searchable(text: str, field: str) -> str:
    """Text that a database can compare with: PostgreSQL refuses NUL."""
    if "\0" in text:
        raise InvalidInput("holds a NUL character", path=field)
    return text


def time_cursor(at: datetime, id_: UUID) -> str:
    """Where a list that is sorted by time and id goes on."""
    return f"{(at - _EPOCH) // timedelta(microseconds=1)}.{id_.hex}"


def parse_time_cursor(text: str) -> tuple[datetime, UUID]:
    """What `time_cursor` wrote; anything else is refused."""
    micros, _, hex_ = text.partition(".")
    try:
        return _EPOCH + timedelta(microseconds=int(micros)), UUID(hex_)
    except (ValueError, OverflowError):
        raise BadCursor("The cursor is not one that this list gave.", path="cursor") from None
