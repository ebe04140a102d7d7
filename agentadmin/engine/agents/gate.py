"""ThreadGate: one call at a time on a thread, in arrival order; threads run in parallel."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agentadmin.engine.identity import ThreadKey


class ThreadGate:
    """Keeps a queue only for threads that somebody is in, so it never grows with history."""

    def __init__(self) -> None:
        self._queues: dict[ThreadKey, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        return len(self._queues)

    @asynccontextmanager
    async def enter(self, key: ThreadKey) -> AsyncIterator[None]:
        """Wait for this call's turn; leave by the end of the block."""
        queue = self._queues.setdefault(key, deque())
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(ticket)
        try:
            if queue[0] is not ticket:
                await ticket
            yield
        finally:
            self._leave(key, queue, ticket)

    def _leave(
        self, key: ThreadKey, queue: deque[asyncio.Future[None]], ticket: asyncio.Future[None]
    ) -> None:
        """A waiter that gives up only steps out of the line; the head alone calls the next."""
        was_head = queue[0] is ticket
        queue.remove(ticket)
        if not queue:
            del self._queues[key]
        elif was_head and not queue[0].done():
            queue[0].set_result(None)
