"""The one reader of a web process: every watched stream in one blocking read (design §7)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from contextvars import Context
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from agentadmin.redis import reader as blocking_client
from runs_app.live import streams
from runs_app.live.closing import CloseCode, Closing
from runs_app.live.feed import Feed
from runs_app.live.inbox import Inbox
from runs_app.live.records import heads, in_database
from runs_app.live.steady import Steady
from runs_app.live.timing import timing
from runs_app.live.wire import Entry, stream_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

BLOCK_SECONDS = 5
COUNT = 500
_GONE = Closing(CloseCode.UNKNOWN, "not_found")


class Reader:
    """Feeds by thread; its tasks run while anybody watches."""

    def __init__(self) -> None:
        self._feeds: dict[str, Feed] = {}
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._wake_key = f"aa:wake:{uuid4()}"
        self._wake_at = "0-0"
        self._steady = Steady("live reader")

    @asynccontextmanager
    async def watching(self, thread_id: str) -> AsyncIterator[Inbox]:
        """An inbox that gets everything which happens on the thread from now on."""
        feed = self._feeds.setdefault(thread_id, Feed(thread_id))
        feed.users += 1
        inbox = Inbox()
        try:
            await feed.open()
            feed.add(inbox)
            self._start()
            yield inbox
        finally:
            feed.remove(inbox)
            feed.users -= 1
            if not feed.users:
                del self._feeds[thread_id]
            if not self._feeds:
                await self._stop()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            # A context of its own: the reader outlives the request that started it.
            self._task = asyncio.create_task(self._run(), context=Context())
        self._changed.set()

    async def _stop(self) -> None:
        """End the tasks, and wait until their connections are closed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task}, timeout=1)

    async def _run(self) -> None:
        async with blocking_client() as blocking, asyncio.TaskGroup() as group:
            group.create_task(self._steady.repeat(self._read, blocking))
            group.create_task(self._steady.repeat(self._wake))
            group.create_task(self._steady.repeat(self._compare_heads))

    async def _read(self, client: Redis) -> None:
        """Wait for entries of any watched stream, or for a change of the set."""
        keys = {stream_key(f.thread_id): f for f in self._feeds.values() if f.is_open}
        places: dict[Any, Any] = {key: str(feed.read) for key, feed in keys.items()}
        places[self._wake_key] = self._wake_at
        # A connection that died without a word must not be waited for.
        async with asyncio.timeout(BLOCK_SECONDS * 2):
            found: Any = await client.xread(places, count=COUNT, block=BLOCK_SECONDS * 1000)
        self._steady.answered()
        works = []
        for raw_key, raw_entries in found or ():
            key = raw_key.decode()
            if key == self._wake_key:
                self._wake_at = raw_entries[-1][0].decode()
            elif key in keys:
                works.append(keys[key].take([Entry.read(i, fields) for i, fields in raw_entries]))
        await asyncio.gather(*works)
        await asyncio.sleep(timing.batch)

    async def _wake(self) -> None:
        """Interrupt the blocking read after the set of watched threads has changed."""
        await self._changed.wait()
        self._changed.clear()
        await asyncio.to_thread(self._add_wake_entry)

    def _add_wake_entry(self) -> None:
        client = streams.client()
        client.xadd(self._wake_key, {"w": 1}, maxlen=1, approximate=False)
        client.expire(self._wake_key, 60)

    async def _compare_heads(self) -> None:
        """Find what no stream entry told; a fact may still be on its way for a moment."""
        await asyncio.sleep(timing.tick)
        feeds = [feed for feed in self._feeds.values() if feed.is_open]
        found = await in_database(heads, [feed.thread_id for feed in feeds])
        behind = [feed for feed in feeds if found.get(feed.thread_id, 0) > feed.last]
        if behind:
            await asyncio.sleep(timing.grace)
        for feed in behind:
            await feed.catch_up(found[feed.thread_id])
        for feed in feeds:
            if feed.thread_id not in found:
                feed.close(_GONE)


_readers: WeakKeyDictionary[asyncio.AbstractEventLoop, Reader] = WeakKeyDictionary()


def current_reader() -> Reader:
    """The reader of this process, which lives in the loop that runs now."""
    return _readers.setdefault(asyncio.get_running_loop(), Reader())
