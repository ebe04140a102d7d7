"""What this process has counted since it last told Redis, and the thread that tells it."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from redis.exceptions import RedisError

from agentadmin.redis import commands_sync

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

COUNTS = "agentadmin:metrics"
PROCESSES = "agentadmin:metrics:processes"
# A process that was not heard of for so long is gone.
STALE = 20.0
# Without Redis counts are kept, up to so many different ones.
MOST = 20_000

type Key = tuple[str, ...]


class Book:
    """Counts of one process; adding costs a lock and a dictionary."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._news: dict[Key, float] = {}
        self._thread: threading.Thread | None = None
        self._role = ""
        self._gauges: dict[str, Callable[[], float]] = {}

    def add(self, key: Key, by: float) -> None:
        """Count; an event loop may call it."""
        with self._lock:
            if key in self._news or len(self._news) < MOST:
                self._news[key] = self._news.get(key, 0.0) + by

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """A number of this process that is read whenever it tells of itself."""
        self._gauges[name] = read

    def start(self, role: str) -> None:
        """Begin to tell; a process that has begun goes on until it ends."""
        every = settings.METRICS_SECONDS
        if every is None or self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._role = role
                self._thread = threading.Thread(
                    target=self._run, args=(every,), name="metrics", daemon=True
                )
                self._thread.start()

    def flush(self) -> None:
        """Add what is new to the counts in Redis, and say how this process is."""
        with self._lock:
            news, self._news = self._news, {}
        try:
            with commands_sync() as client, client.pipeline(transaction=False) as pipe:
                for key, by in news.items():
                    pipe.hincrbyfloat(COUNTS, json.dumps(key), by)
                pipe.hset(PROCESSES, self.name, json.dumps(self._told()))
                pipe.execute()
        except (RedisError, OSError) as error:
            log.debug("metrics wait for Redis: %s", error)
            for key, by in news.items():
                self.add(key, by)

    @property
    def name(self) -> str:
        """This process among all."""
        return f"{self._role or 'process'}@{socket.gethostname()}:{os.getpid()}"

    def _told(self) -> dict[str, float | str]:
        gauges = {name: read() for name, read in self._gauges.items()}
        return {"role": self._role, "at": time.time(), "memory": resident_bytes(), **gauges}

    def _run(self, every: float) -> None:
        while True:
            self.flush()
            time.sleep(every)


def resident_bytes() -> int:
    """The memory that this process holds; 0 where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return 0
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


BOOK = Book()
