"""Entries that have no transaction of their own: reads, refusals, failed sign-ins.

They are queued in memory and written together, at most two seconds later and at the latest when
the process ends. A read that repeats within a minute is the same read.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import defaultdict
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, connections, transaction

from agentadmin.audit.append import append_all
from agentadmin.audit.format import NewEntry, chain_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

log = logging.getLogger(__name__)
SAME_READ = 60.0
# So many waiting entries are written at once rather than after the delay.
_FULL = 500


class LaterQueue:
    """What waits to be written, and the thread that writes it."""

    def __init__(
        self, *, delay: Callable[[], float | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._delay = delay
        self._clock = clock
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[NewEntry] = []
        self._reads: dict[Hashable, float] = {}
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, entry: NewEntry) -> None:
        """Queue an entry; never blocks, so that an event loop may call it."""
        with self._lock:
            self._waiting.append(entry)
            if len(self._waiting) >= _FULL:
                self._hurry.set()
        self._start()

    def add_read(self, entry: NewEntry) -> None:
        """Queue a read unless the same one was queued within the last minute."""
        actor, target = entry.actor, entry.target
        key = (actor.kind, actor.id, actor.token_id, entry.namespace, entry.action, target.key)
        at = self._clock()
        with self._lock:
            if at - self._reads.get(key, -SAME_READ) < SAME_READ:
                return
            self._reads = {k: t for k, t in self._reads.items() if at - t < SAME_READ}
            self._reads[key] = at
        self.add(entry)

    def flush(self) -> int:
        """Write what waits, each chain in a transaction of its own; how many were written."""
        with self._writing:
            with self._lock:
                entries, self._waiting = self._waiting, []
            chains: dict[str, list[NewEntry]] = defaultdict(list)
            for entry in entries:
                chains[chain_of(entry.namespace)].append(entry)
            return sum(self._write(chain) for chain in chains.values())

    def discard(self) -> list[NewEntry]:
        """Forget what waits and what was read; tests look at it."""
        with self._lock:
            entries, self._waiting = self._waiting, []
            self._reads = {}
            return entries

    def _write(self, entries: list[NewEntry]) -> int:
        try:
            with transaction.atomic():
                return len(append_all(entries))
        except DatabaseError:
            log.exception("%d audit entries could not be written; they wait on.", len(entries))
            with self._lock:
                self._waiting = entries + self._waiting
            return 0

    def _start(self) -> None:
        delay = self._delay()
        with self._lock:
            if delay is None or self._thread is not None:
                return
            self._thread = threading.Thread(
                target=self._run, args=(delay,), name="audit-later", daemon=True
            )
        self._thread.start()

    def _run(self, delay: float) -> None:
        """Write after each delay until nothing waits; the next entry starts a new thread."""
        try:
            while True:
                self._hurry.wait(delay)
                self._hurry.clear()
                self.flush()
                with self._lock:
                    if not self._waiting:
                        self._thread = None
                        return
        finally:
            connections.close_all()


_queue = LaterQueue(delay=lambda: settings.AUDIT_FLUSH_SECONDS)


def append_later(entry: NewEntry) -> None:
    """Audit what has no transaction: a refusal, a failed attempt."""
    _queue.add(entry)


def read_later(entry: NewEntry) -> None:
    """Audit a read; the same actor reading the same within a minute is one entry."""
    _queue.add_read(entry)


def flush() -> int:
    """Write what waits now."""
    return _queue.flush()


def discard() -> list[NewEntry]:
    """Forget what waits; for tests."""
    return _queue.discard()


def _flush_at_exit() -> None:
    if settings.AUDIT_FLUSH_SECONDS is not None:
        _queue.flush()


# Server children made by multiprocessing leave without running atexit on older Pythons.
atexit.register(_flush_at_exit)
Finalize(None, _flush_at_exit, exitpriority=100)
