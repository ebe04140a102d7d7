"""One thread's way into its stream: coalesced deltas, facts, and the ids they get (design §7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso, now
from agentadmin.engine.journal.facts import Fact
from agentadmin.engine.state import codec
from runs_app.cursors import START, Position
from runs_app.live.timing import timing
from runs_app.live.wire import FACT_LIMIT, Entry, fact_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from agentadmin.engine.events import WireDelta

MAX_PENDING = 512
"""More than this is waiting only when Redis does not take it; facts are in the database anyway."""
PIECE = 8 * 1024
"""The longest text of one delta, in characters."""
DELTA_LIMIT = 64 * 1024


def always() -> bool:
    """The lease of a publisher that has none."""
    return True


@dataclass(slots=True)
class PendingDelta:
    """A delta that waits to be sent; text that continues it is appended."""

    type: str
    data: Mapping[str, Any]
    run_id: str | None
    turn_id: str | None
    step_id: str | None
    at: datetime = field(default_factory=now)
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    def continues_at(self) -> int:
        """The offset of the character after this delta's last one."""
        return int(self.data.get("offset") or 0) + self.length

    def append(self, text: str) -> None:
        """Add the text that follows."""
        self.pieces.append(text)
        self.length += len(text)

    def entry(self, thread_id: str, at: Position) -> Entry:
        """The delta as an entry at this place."""
        data = {**self.data, "delta": "".join(self.pieces)} if self.pieces else dict(self.data)
        event = {
            "id": f"{thread_id}-{at}",
            "type": self.type,
            "thread_id": thread_id,
            "turn_id": self.turn_id,
            "run_id": self.run_id,
            "step_id": self.step_id,
            "at": iso(self.at),
            "data": data,
        }
        return Entry(at, self.type, codec.dumps(event, levels=codec.WRAPPED))


type Pending = PendingDelta | Fact


class Lane:
    """The queue of one thread. Callers hold the writer's lock, except for `assign`.

    Only the writer's thread calls `assign`, so `position` needs no lock.
    """

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        self.position = START
        self.holds: Callable[[], bool] = always
        self.due = 0.0
        self.used = 0.0
        self._sent = 0.0
        self._pending: list[Pending] = []
        self._open: dict[str, PendingDelta] = {}

    def add_delta(
        self, delta: WireDelta, run_id: str | None, turn_id: str | None, moment: float
    ) -> None:
        """Queue a delta; its text joins what waits for the same block."""
        if not self._pending:
            self.due = max(moment, self._sent + timing.coalesce)
        text = delta.data.get("delta")
        if not isinstance(text, str):
            self._open.pop(str(delta.data.get("block")), None)
            self._queue(PendingDelta(delta.type, delta.data, run_id, turn_id, delta.step_id))
            return
        offset = int(delta.data.get("offset") or 0)
        for start in range(0, len(text), PIECE):
            data = {**delta.data, "offset": offset + start}
            fresh = PendingDelta(delta.type, data, run_id, turn_id, delta.step_id)
            self._add_text(fresh, text[start : start + PIECE])

    def _add_text(self, fresh: PendingDelta, text: str) -> None:
        """Offsets make applying idempotent, so only text that follows exactly is joined."""
        block, offset = str(fresh.data.get("block")), fresh.data["offset"]
        waiting = self._open.get(block)
        if (
            waiting is None
            or waiting.type != fresh.type
            or waiting.continues_at() != offset
            or waiting.length + len(text) > PIECE
        ):
            waiting = fresh
            self._queue(waiting)
            self._open[block] = waiting
        waiting.append(text)

    def add_facts(self, facts: Sequence[Fact]) -> None:
        """Queue facts behind the deltas that they end; all of it is due now."""
        for fact in facts:
            self._queue(fact)
        self._open.clear()
        self.due = 0.0

    def _queue(self, item: Pending) -> None:
        if len(self._pending) >= MAX_PENDING:
            self._pending.clear()
            self._open.clear()
        self._pending.append(item)

    def take(self, moment: float) -> list[Pending]:
        """Everything that waits, in order."""
        taken, self._pending = self._pending, []
        self._open.clear()
        self._sent = self.used = moment
        return taken

    def assign(self, items: Sequence[Pending]) -> list[tuple[Pending, Entry]]:
        """Give each its id: `<seq>-0` to a fact, `<seq>-n` to the deltas behind it."""
        entries: list[tuple[Pending, Entry]] = []
        for item in items:
            if isinstance(item, Fact):
                entry = fact_entry(self.thread_id, item)
                if entry.text is not None and len(entry.text) > FACT_LIMIT:
                    entry = Entry(entry.at, entry.type, None)
            else:
                entry = item.entry(self.thread_id, Position(self.position.seq, self.position.n + 1))
                if entry.text is None or len(entry.text) > DELTA_LIMIT:
                    continue
            self.position = max(self.position, entry.at)
            entries.append((item, entry))
        return entries
