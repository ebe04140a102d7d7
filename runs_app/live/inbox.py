"""The bounded queue between the one reader and one watcher."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from runs_app.live.closing import SLOW, Closing
from runs_app.live.records import Gap

if TYPE_CHECKING:
    from runs_app.live.wire import Entry

MAX_ITEMS = 2000
MAX_CHARACTERS = 4 * 1024 * 1024


class Inbox:
    """Holds what a watcher has not taken yet; a watcher that takes too little is sent away."""

    def __init__(self) -> None:
        self._items: deque[Entry | Gap] = deque()
        self._characters = 0
        self._closing: Closing | None = None
        self._changed = asyncio.Event()

    def put(self, item: Entry | Gap) -> None:
        """Add an item; the one too many empties the box and ends the connection."""
        if self._closing is not None:
            return
        self._items.append(item)
        self._characters += _size(item)
        if len(self._items) > MAX_ITEMS or self._characters > MAX_CHARACTERS:
            self.close(SLOW)
        self._changed.set()

    def close(self, closing: Closing) -> None:
        """End the connection; what was not taken is left to the client's cursor."""
        self._closing = self._closing or closing
        self._items.clear()
        self._changed.set()

    async def get(self, seconds: float) -> Entry | Gap | None:
        """The next item, or None after this long. Raises Closing."""
        if not self._items and self._closing is None:
            self._changed.clear()
            try:
                async with asyncio.timeout(max(seconds, 0)):
                    await self._changed.wait()
            except TimeoutError:
                return None
        if self._closing is not None:
            raise Closing(self._closing.code, self._closing.reason)
        item = self._items.popleft()
        self._characters -= _size(item)
        return item


def _size(item: Entry | Gap) -> int:
    return 0 if isinstance(item, Gap) else len(item.text or "")
