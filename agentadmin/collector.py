"""Holding back Python's cyclic garbage collector while one request makes a million objects.

A full collection walks every object and holds every other thread of the process for as long: with
a file of 25 MB in memory a fifth of a second, several times. What an import makes has no cycles,
so nothing waits for the collector; what others make meanwhile waits for seconds.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = Lock()
_holders: list[None] = []


@contextmanager
def collection_paused() -> Iterator[None]:
    """Collect nothing within the block; the last of several holders starts it again."""
    with _lock:
        _holders.append(None)
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _holders.pop()
            if not _holders:
                gc.enable()
