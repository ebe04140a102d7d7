"""One watcher's way through a thread's events: what it missed, then what happens (design §7).

Catching up reads stream and database at the watcher's own pace, once before the reader is joined
and once more after it, so that nothing falls between; what came twice is dropped by its place.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentadmin.engine.errors import Forbidden, NotAuthenticated, NotFound
from runs_app import cursors
from runs_app.cursors import START, Position
from runs_app.live import streams
from runs_app.live.closing import CloseCode, Closing
from runs_app.live.frames import PING, ControlFrame, EventFrame, Frame
from runs_app.live.records import Gap, Watched, in_database, missing
from runs_app.live.timing import timing
from runs_app.reader import current_reader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from runs_app.live.wire import Entry


class ThreadWatch:
    """Frames of one thread behind a cursor; `again` asks who watches, and whether they may."""

    def __init__(
        self, thread: Watched, after: Position | None, again: Callable[[], Watched]
    ) -> None:
        self._thread = thread
        self._again = again
        self._from_now = after is None
        self._last = thread.head_seq if after is None else after.seq
        self._read = after or START
        self._position = Position(thread.head_seq) if after is None else after
        self._check_at = 0.0
        self._ping_at = 0.0

    async def frames(self) -> AsyncGenerator[Frame]:
        """Every frame until the watcher leaves. Raises Closing."""
        loop = asyncio.get_running_loop()
        self._check_at = loop.time() + timing.recheck
        self._ping_at = loop.time() + timing.ping
        await self._find_place()
        yield self._ready()
        async for frame in self._catch_up():
            yield frame
        async with current_reader().watching(self._thread.id) as inbox:
            async for frame in self._catch_up():
                yield frame
            while True:
                item = await inbox.get(min(self._check_at, self._ping_at) - loop.time())
                if item is not None and (new := self._frame(item)):
                    yield new
                await self._check_if_due()
                if loop.time() >= self._ping_at:
                    self._ping_at = loop.time() + timing.ping
                    yield PING

    def _ready(self) -> ControlFrame:
        head = {"head_seq": self._thread.head_seq, "version": self._thread.version}
        return ControlFrame(
            "ready", {"thread_id": self._thread.id, **head, "status": self._thread.status}
        )

    async def _find_place(self) -> None:
        """Where to read the stream from: behind the cursor, or from now on behind its top.

        A cursor may be ahead of the stream, whose next entries then must not be skipped.
        """
        top = await streams.top_or_none(self._thread.id)
        if top is None:
            return
        if not self._from_now:
            self._read = min(self._read, top)
        elif top.seq <= self._last:
            self._read = top
            self._position = max(self._position, top)

    async def _check_if_due(self) -> None:
        """Ask again whether this watcher may watch. Raises Closing."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._check_at:
            return
        try:
            await in_database(self._again)
        except NotAuthenticated:
            raise Closing(CloseCode.NOT_AUTHENTICATED, "not_authenticated") from None
        except (Forbidden, NotFound):
            # It was there and allowed: either the roles have changed, or the thread is erased.
            raise Closing(CloseCode.NOT_ALLOWED, "forbidden") from None
        self._check_at = loop.time() + timing.recheck

    async def _catch_up(self) -> AsyncGenerator[Frame]:
        """What stream and database hold behind the watcher's place."""
        while entries := await streams.entries_after(self._thread.id, self._read):
            for entry in entries:
                before = entry.at.seq - 1 if entry.is_fact and entry.text else entry.at.seq
                async for frame in self._missing(before):
                    yield frame
                if new := self._frame(entry):
                    yield new
                self._read = max(self._read, entry.at)
            await self._check_if_due()
        async for frame in self._missing(None):
            yield frame

    async def _missing(self, through: int | None) -> AsyncGenerator[Frame]:
        if through is not None and through <= self._last:
            return
        async for item in missing(self._thread.id, self._last, through):
            await self._check_if_due()
            if frame := self._frame(item):
                yield frame

    def _frame(self, item: Entry | Gap) -> Frame | None:
        """The item as a frame; None for what this watcher has had."""
        if isinstance(item, Gap):
            if item.last <= self._last:
                return None
            self._last = item.last
            return ControlFrame("gap", {"from": item.first, "to": item.last})
        if item.text is None or not self._is_new(item):
            return None
        # A delta that comes late has a smaller place; its cursor must still lead on.
        onward = Position(self._position.seq, self._position.n + 1)
        self._position = max(onward, item.at)
        cursor = cursors.format(self._thread.id, *self._position)
        return EventFrame(cursor, item.type, item.text)

    def _is_new(self, entry: Entry) -> bool:
        if not entry.is_fact:
            return entry.at > self._read and entry.at.seq <= self._last
        if entry.at.seq != self._last + 1:
            return False
        self._last = entry.at.seq
        return True
