"""How many sockets and event streams this process serves."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentadmin.metrics.book import BOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

_open = 0


@contextmanager
def open_stream() -> Iterator[None]:
    """Count one while it is open; all of a process live in one loop."""
    global _open  # noqa: PLW0603
    _open += 1
    try:
        yield
    finally:
        _open -= 1


BOOK.gauge("sockets", lambda: float(_open))
