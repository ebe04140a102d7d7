"""A bounded cache of rendered HTML, keyed by the hash of what was rendered."""

from collections import OrderedDict
from threading import Lock


class RenderedCache:
    """Keeps the most recently used pieces, bounded in number and in total size."""

    def __init__(self, *, entries: int, size: int) -> None:
        self._entries, self._limit = entries, size
        self._held: OrderedDict[bytes, str] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: bytes) -> str | None:
        """Find a piece and mark it used."""
        with self._lock:
            html = self._held.get(key)
            if html is not None:
                self._held.move_to_end(key)
            return html

    def put(self, key: bytes, html: str) -> None:
        """Keep a piece; the least recently used ones make room."""
        with self._lock:
            self._size += len(html) - len(self._held.pop(key, ""))
            self._held[key] = html
            while len(self._held) > self._entries or self._size > self._limit:
                _, old = self._held.popitem(last=False)
                self._size -= len(old)
