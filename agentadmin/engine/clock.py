"""Time: one source of now, and the two texts that AgentAdmin writes it as."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the present time, aware and in UTC."""

    def __call__(self) -> datetime: ...


def now() -> datetime:
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """`2026-12-01T12:02:43.907Z`"""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def message_timestamp(moment: datetime) -> str:
    """`2026-12-01 12:02:43.907`, UTC: the wire form of a message's time."""
    return iso(moment).replace("T", " ").removesuffix("Z")
