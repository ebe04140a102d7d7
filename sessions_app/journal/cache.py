"""A small LRU of projections, so that a worker reads only what it has not seen."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from agentadmin.engine.journal.loading import load, refresh

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadJournalStore, ThreadRef
    from agentadmin.engine.journal.projection import ThreadProjection


class ProjectionCache:
    """Projections by thread, taken out while in use; bounded by threads and by messages."""

    def __init__(self, *, threads: int = 256, messages: int = 50_000) -> None:
        self._threads = threads
        self._messages = messages
        self._held: OrderedDict[str, ThreadProjection] = OrderedDict()
        self._count = 0
        self._lock = Lock()

    def take(self, thread_id: str) -> ThreadProjection | None:
        """The thread's projection, now the caller's alone; None when it is not held."""
        with self._lock:
            projection = self._held.pop(thread_id, None)
            if projection is not None:
                self._count -= len(projection.items)
            return projection

    def put(self, projection: ThreadProjection) -> None:
        """Give a projection back after a commit that went well; the oldest ones leave."""
        with self._lock:
            old = self._held.pop(projection.ref.id, None)
            self._count += len(projection.items) - (len(old.items) if old else 0)
            self._held[projection.ref.id] = projection
            while len(self._held) > self._threads or (
                self._count > self._messages and len(self._held) > 1
            ):
                _, gone = self._held.popitem(last=False)
                self._count -= len(gone.items)

    def __len__(self) -> int:
        return len(self._held)


async def current(
    cache: ProjectionCache, store: ThreadJournalStore, ref: ThreadRef
) -> ThreadProjection:
    """The thread as it stands now, the caller's alone; `put` it back after a commit."""
    projection = cache.take(ref.id)
    if projection is None:
        return await load(store, ref)
    version = projection.version
    await refresh(store, projection)
    # Facts tell a changed substate, but only its snapshot row tells what it is committed to.
    return projection if projection.version == version else await load(store, ref)
