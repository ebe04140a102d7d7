"""The one way from a service into the engine's coroutines, off the web server's own event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def entered[**P, R](function: Callable[P, Awaitable[R]]) -> Callable[P, R]:
    """The function for callers that cannot wait; its database work stays on the calling thread.

    `async_to_sync` alone would run it on the loop that serves every request: folding a history of
    many megabytes there keeps all of them waiting. A loop of its own costs 0.1 ms.
    """
    return async_to_sync(function, force_new_loop=True)
