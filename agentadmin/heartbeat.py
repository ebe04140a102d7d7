"""A worker says once a second that it lives; `/readyz` and the doctor listen."""

import logging
import threading
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from redis.exceptions import RedisError

from agentadmin.metrics.book import BOOK
from agentadmin.redis import commands_sync

log = logging.getLogger(__name__)
# Every worker refreshes this key; Redis forgets it when the last one is gone.
WORKER_KEY = "agentadmin:worker-alive"
EVERY = 1.0
# A frozen worker is missed after this many seconds.
FORGET = 5

_stop = threading.Event()


def _beat() -> None:
    with commands_sync() as client:
        while not _stop.is_set():
            try:
                client.set(WORKER_KEY, 1, ex=FORGET)
            except (RedisError, OSError) as error:
                log.warning("The worker cannot reach Redis: %s", error)
            _stop.wait(EVERY)


@worker_ready.connect
def start(**_: Any) -> None:
    """Begin when the worker takes tasks."""
    _stop.clear()
    BOOK.start("worker")
    threading.Thread(target=_beat, name="heartbeat", daemon=True).start()


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """End when it no longer does."""
    _stop.set()
    BOOK.flush()
