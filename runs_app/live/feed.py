"""One watched thread inside the reader: puts facts in order, fills holes, hands on (design §7)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runs_app.cursors import START, Position
from runs_app.live import streams
from runs_app.live.records import Gap, heads, in_database, missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runs_app.live.closing import Closing
    from runs_app.live.inbox import Inbox
    from runs_app.live.wire import Entry


class Feed:
    """The thread's place in its stream, the last fact handed on, and who wants to have it."""

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        self.users = 0
        self.last = 0
        self.read = START
        """Behind which entry the stream is read."""
        self.is_open = False
        self._inboxes: set[Inbox] = set()
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Start from here: from the thread's head and the stream's top."""
        async with self._lock:
            if self.is_open:
                return
            self.last = (await in_database(heads, [self.thread_id])).get(self.thread_id, 0)
            # While Redis is away nothing is known of its top: read on behind the last fact.
            self.read = await streams.top_or_none(self.thread_id) or Position(self.last)
            self.is_open = True

    def add(self, inbox: Inbox) -> None:
        """Hand on to this inbox from now on."""
        self._inboxes.add(inbox)

    def remove(self, inbox: Inbox) -> None:
        """Stop that."""
        self._inboxes.discard(inbox)

    def close(self, closing: Closing) -> None:
        """Send every watcher away."""
        for inbox in self._inboxes:
            inbox.close(closing)

    async def take(self, entries: Iterable[Entry]) -> None:
        """Hand on what the stream holds, each entry behind the facts before it."""
        async with self._lock:
            for entry in entries:
                self.read = max(self.read, entry.at)
                await self._take(entry)

    async def _take(self, entry: Entry) -> None:
        before = entry.at.seq - 1 if entry.is_fact and entry.text is not None else entry.at.seq
        if before > self.last:
            await self._fill(before)
        if not entry.is_fact:
            # A delta of a fact that is not there was published before its commit failed.
            if entry.at.seq <= self.last:
                self._hand_on(entry)
        elif entry.at.seq == self.last + 1:
            self.last = entry.at.seq
            self._hand_on(entry)

    async def catch_up(self, head: int) -> None:
        """Hand on what the database has and no stream entry told."""
        async with self._lock:
            if head > self.last:
                await self._fill(head)

    async def _fill(self, through: int) -> None:
        async for item in missing(self.thread_id, self.last, through):
            self.last = item.last if isinstance(item, Gap) else item.at.seq
            self._hand_on(item)

    def _hand_on(self, item: Entry | Gap) -> None:
        for inbox in self._inboxes:
            inbox.put(item)
