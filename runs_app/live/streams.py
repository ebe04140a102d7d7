"""Reading a thread's stream: its top, and what stands behind a place.

These few quick commands run in threads on one client of the process: a watcher that leaves in the
middle of one leaves no half-open connection behind.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisError, ResponseError
from redis.retry import Retry

from agentadmin.redis import commands_sync
from runs_app.cursors import START, Position
from runs_app.live.timing import timing
from runs_app.live.wire import Entry, parse_entry_id, stream_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

log = logging.getLogger(__name__)

PAGE = 200
UNAVAILABLE = (RedisError, OSError, TimeoutError)


@cache
def client() -> Redis:
    """The process's client; it tries a dead connection once more and no longer."""
    made = commands_sync()
    made.set_retry(Retry(NoBackoff(), 1, supported_errors=(ConnectionError,)))
    return made


class _Breaker:
    """Leaves a Redis alone for a moment that has just failed, so that nobody queues for it."""

    def __init__(self) -> None:
        # Threads of its own: a Redis that hangs must not keep readers from the database.
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="live-redis")
        self._until = 0.0

    async def ask[R](self, command: Callable[[], R], otherwise: R) -> R:
        """What Redis answers, or the other value, without holding the loop up."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.ask_now, command, otherwise)

    def ask_now[R](self, command: Callable[[], R], otherwise: R) -> R:
        """The same for code that runs in a thread."""
        if monotonic() < self._until:
            return otherwise
        try:
            return command()
        except UNAVAILABLE as error:
            self._until = monotonic() + timing.retry
            log.info("live stream: Redis does not answer: %s", error)
            return otherwise


_breaker = _Breaker()


def top(thread_id: str) -> Position:
    """The place of the newest entry that the stream ever had."""
    try:
        found: Any = client().xinfo_stream(stream_key(thread_id))
    except ResponseError as error:
        if "no such key" in str(error):
            return START
        raise
    return parse_entry_id(found["last-generated-id"])


def page_after(thread_id: str, at: Position) -> list[Entry]:
    """The next entries behind a place."""
    found: Any = client().xrange(stream_key(thread_id), min=f"({at}", count=PAGE)
    return [Entry.read(id_, fields) for id_, fields in found]


def page_or_none(thread_id: str, at: Position) -> list[Entry]:
    """The next entries behind a place; none while Redis does not answer."""
    return _breaker.ask_now(lambda: page_after(thread_id, at), [])


async def top_or_none(thread_id: str) -> Position | None:
    """The stream's top; None while Redis does not answer."""
    return await _breaker.ask(lambda: top(thread_id), None)


async def entries_after(thread_id: str, at: Position) -> list[Entry]:
    """The next entries behind a place; none while Redis does not answer."""
    return await _breaker.ask(lambda: page_after(thread_id, at), [])
