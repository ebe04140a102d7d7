"""How far a watcher has come, and the cursors of what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs_app import cursors
from runs_app.cursors import LATE, Position
from runs_app.live.frames import ControlFrame, EventFrame

if TYPE_CHECKING:
    from runs_app.live.records import Gap
    from runs_app.live.wire import Entry


class Place:
    """The last fact given, how far the stream was read, and the last cursor."""

    def __init__(self, thread_id: str, last: int, read: Position, position: Position) -> None:
        self._thread_id = thread_id
        self.last = last
        self.read = read
        self.position = position

    @property
    def is_late(self) -> bool:
        """Whether the cursor tells nothing about the place in the stream."""
        return self.position.n >= LATE

    def missing_before(self, entry: Entry) -> int | None:
        """Up to which fact the database must be asked before this entry, if at all."""
        told_here = entry.is_fact and entry.text is not None
        before = entry.at.seq - 1 if told_here else entry.at.seq
        return before if before > self.last else None

    def overtaken(self, entry: Entry) -> bool:
        """Whether a later fact was given before this delta."""
        return not entry.is_fact and self.read < entry.at and entry.at.seq < self.last

    def gap(self, gap: Gap) -> ControlFrame | None:
        """The gap, unless it was told."""
        if gap.last <= self.last:
            return None
        self.last = gap.last
        return ControlFrame("gap", {"from": gap.first, "to": gap.last})

    def event(self, entry: Entry) -> EventFrame | None:
        """The entry with its cursor, unless this watcher has had it."""
        if entry.text is None or not (self._fact(entry) if entry.is_fact else self._delta(entry)):
            return None
        cursor = cursors.format(self._thread_id, *self.position)
        return EventFrame(cursor, entry.type, entry.text)

    def _fact(self, entry: Entry) -> bool:
        if entry.at.seq != self.last + 1:
            return False
        self.last = entry.at.seq
        self.position = entry.at
        return True

    def _delta(self, entry: Entry) -> bool:
        if entry.at <= self.read or entry.at.seq > self.last:
            return False
        if entry.at > self.position:
            self.position = entry.at
        else:
            self.position = Position(self.position.seq, max(self.position.n + 1, LATE))
        return True
