"""One watcher's way through a thread's events: what it missed, then what happens (design §7).

Catching up reads stream and database at the watcher's own pace, once before the reader is joined
and once more after it, so that nothing falls between; what came twice is dropped by its place.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentadmin.engine.errors import Forbidden, NotAuthenticated, NotFound
from runs_app.cursors import Position
from runs_app.live import streams
from runs_app.live.blocks import is_told, running_blocks
from runs_app.live.closing import CloseCode, Closing
from runs_app.live.frames import PING, ControlFrame, Frame
from runs_app.live.place import Place
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
        position = Position(thread.head_seq) if after is None else after
        self._place = Place(thread.id, position.seq, position, position)
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
                if item is not None:
                    async for frame in self._put(item):
                        yield frame
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
        place = self._place
        if place.is_late:
            running = await in_database(running_blocks, self._thread.id, place.last)
            place.read = running.before
        top = await streams.top_or_none(self._thread.id)
        if top is None:
            return
        if not self._from_now:
            place.read = min(place.read, top)
        elif top.seq <= place.last:
            place.read = top
            place.position = max(place.position, top)

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
        place = self._place
        while entries := await streams.entries_after(self._thread.id, place.read):
            for entry in entries:
                async for frame in self._put(entry):
                    yield frame
                place.read = max(place.read, entry.at)
            await self._check_if_due()
        async for frame in self._missing(None):
            yield frame

    async def _put(self, item: Entry | Gap) -> AsyncGenerator[Frame]:
        """The item, behind the facts that must come before it."""
        if isinstance(item, Gap):
            if gap := self._place.gap(item):
                yield gap
            return
        through = self._place.missing_before(item)
        if through is not None:
            async for frame in self._missing(through):
                yield frame
        if self._place.overtaken(item) and await in_database(
            is_told, self._thread.id, item, self._place.last
        ):
            return
        if event := self._place.event(item):
            yield event

    async def _missing(self, through: int | None) -> AsyncGenerator[Frame]:
        """Facts from the database, up to this one or to the last one."""
        async for item in missing(self._thread.id, self._place.last, through):
            await self._check_if_due()
            frame = self._place.gap(item) if isinstance(item, Gap) else self._place.event(item)
            if frame:
                yield frame
