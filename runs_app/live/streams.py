"""Reading a thread's stream: its top, and what stands behind a place."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from agentadmin.redis import commands
from runs_app.cursors import START, Position
from runs_app.live.wire import Entry, parse_entry_id, stream_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

log = logging.getLogger(__name__)

PAGE = 200
SECONDS = 3.0
UNAVAILABLE = (RedisError, OSError, TimeoutError)


@asynccontextmanager
async def quick_client() -> AsyncIterator[Redis]:
    """A client for a few commands, which gives up soon."""
    async with commands() as client:
        client.set_retry(Retry(NoBackoff(), 1))
        yield client


async def top(client: Redis, thread_id: str) -> Position:
    """The place of the newest entry that the stream ever had."""
    try:
        found: Any = await client.xinfo_stream(stream_key(thread_id))
    except ResponseError as error:
        if "no such key" in str(error):
            return START
        raise
    return parse_entry_id(found["last-generated-id"])


async def page_after(client: Redis, thread_id: str, at: Position) -> list[Entry]:
    """The next entries behind a place."""
    found: Any = await client.xrange(stream_key(thread_id), min=f"({at}", count=PAGE)
    return [Entry.read(id_, fields) for id_, fields in found]


async def top_or_none(thread_id: str) -> Position | None:
    """The stream's top; None while Redis does not answer."""
    try:
        async with asyncio.timeout(SECONDS), quick_client() as client:
            return await top(client, thread_id)
    except UNAVAILABLE as error:
        log.info("live stream: %s: %s", thread_id, error)
        return None


async def entries_after(thread_id: str, at: Position) -> list[Entry]:
    """The next entries behind a place; none while Redis does not answer."""
    try:
        async with asyncio.timeout(SECONDS), quick_client() as client:
            return await page_after(client, thread_id, at)
    except UNAVAILABLE as error:
        log.info("live stream: %s: %s", thread_id, error)
        return []
