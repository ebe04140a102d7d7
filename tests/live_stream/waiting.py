"""Waiting for what another task does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


async def until(look: Callable[[], bool], seconds: float = 10.0) -> None:
    """Look again and again until it is so."""
    async with asyncio.timeout(seconds):
        while not look():  # noqa: ASYNC110 - nothing tells a test when it is so
            await asyncio.sleep(0.01)
