"""What both SDKs share: one TLS context, one policy for HTTP, and reading a stream with patience.

A client lives for one request: runs come and go on event loops of their own, a connection belongs
to its loop, and a stream that is given up takes its connection with it.
"""

from __future__ import annotations

import asyncio
import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpx2

from agentadmin.engine.models import failures

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator

    from agentadmin.engine.models.failures import Place

CONNECT = 15.0
WRITE = 60.0

for _chatty in ("openai", "anthropic", "httpx2", "httpcore2"):
    # At lower levels they log conversations, and headers with keys in them.
    logging.getLogger(_chatty).setLevel(logging.WARNING)


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """The process's one TLS context: making one takes a tenth of a second and half a megabyte."""
    return httpx2.create_ssl_context()


def http_client(idle: float) -> httpx2.AsyncClient:
    """A client for one request. Redirects are not followed: they would take the key along."""
    return httpx2.AsyncClient(
        verify=tls_context(),
        timeout=httpx2.Timeout(idle, connect=min(CONNECT, idle), write=min(WRITE, idle)),
        follow_redirects=False,
    )


async def patiently(
    events: AsyncIterator[object], idle: float, place: Place
) -> AsyncGenerator[dict[str, Any], None]:
    """The stream's objects. Raises ModelError after a silence, and for what is no object."""
    while True:
        try:
            async with asyncio.timeout(idle):
                event = await anext(events)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise failures.silent(place, idle) from None
        except (ValueError, RecursionError) as error:
            raise failures.malformed(place, type(error).__name__) from None
        if event is None:
            continue
        if not isinstance(event, dict):
            raise failures.malformed(place, f"a {type(event).__name__} in the place of an object")
        yield event
