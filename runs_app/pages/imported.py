"""Times of messages that came from elsewhere: the file's own, which name no zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import ITEM_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions_app.selectors.transcript import Entry

MAX_TEXT = 40


@dataclass(frozen=True, slots=True)
class OwnTime:
    """What a file says of when; empty where it says nothing."""

    text: str = ""
    day: str = ""
    time: str = ""

    @classmethod
    def of(cls, given: Any) -> OwnTime:
        """A day and a time where the text has them, else the text as it is."""
        if not isinstance(given, str) or not given:
            return cls()
        try:
            at = datetime.fromisoformat(given)
        except ValueError:
            return cls(given[:MAX_TEXT], "", given[:MAX_TEXT])
        return cls(given[:MAX_TEXT], at.strftime("%d %b %Y"), at.strftime("%H:%M:%S"))


def own_time(entry: Entry, block: Mapping[str, Any] | None = None) -> OwnTime | None:
    """The time of a message, or of a block of it, that no turn of ours has written; else None."""
    if entry.turn_id is not None or entry.type not in ITEM_TYPES:
        return None
    message = entry.message
    of_block = (block or {}).get("created_at")
    return OwnTime.of(of_block or message.get("timestamp") or message.get("created_at"))
