"""What one lane sends at once, and what Redis says to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redis.exceptions import ResponseError

from runs_app.live.wire import stream_key

if TYPE_CHECKING:
    from redis.client import Pipeline

    from runs_app.live.lanes import Lane, Pending
    from runs_app.live.wire import Entry

MAXLEN = 1000
KEEP_SECONDS = 6 * 3600
"""A stream that nobody writes to is forgotten; its facts are in the database."""
_REFUSED = "The ID specified in XADD is equal or smaller"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one lane sends at once."""

    lane: Lane
    entries: list[tuple[Pending, Entry]]

    def refused_tail(self, replies: list[Any]) -> Batch:
        """The refused deltas behind the last fact; what came before it, that fact has told."""
        tail: list[tuple[Pending, Entry]] = []
        for (item, entry), reply in zip(self.entries, replies, strict=True):
            refused = is_refused(reply)
            if entry.is_fact:
                tail.clear()
            elif refused:
                tail.append((item, entry))
        return Batch(self.lane, tail)


def add(pipe: Pipeline, batch: Batch) -> None:
    """Append entries with their own ids, which Redis refuses when they are not the newest."""
    key = stream_key(batch.lane.thread_id)
    for _, entry in batch.entries:
        pipe.xadd(key, entry.fields(), id=str(entry.at), maxlen=MAXLEN, approximate=True)
    pipe.expire(key, KEEP_SECONDS)


def is_refused(reply: Any) -> bool:
    """Whether Redis refused an id. Raises any other error that it answered."""
    if not isinstance(reply, Exception):
        return False
    if isinstance(reply, ResponseError) and str(reply).startswith(_REFUSED):
        return True
    raise reply
