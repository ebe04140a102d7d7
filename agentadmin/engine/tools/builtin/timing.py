"""`current_time` and `sleep`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agentadmin.engine.clock import now
from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.tools.context import ToolContext

MAX_SECONDS = 300


@tool(effect=Effect.NONE, plan_mode_allowed=True)
def current_time(
    zone: Annotated[str | None, "An IANA time zone such as Europe/Berlin; UTC when absent"] = None,
) -> str:
    """Tell the present date and time."""
    return _local(zone).isoformat(timespec="seconds")


def _local(zone: str | None) -> datetime:
    if zone is None:
        return now()
    try:
        return now().astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolError(f"there is no time zone {zone!r}") from None


@tool(effect=Effect.NONE, plan_mode_allowed=True, timeout=MAX_SECONDS + 10.0)
async def sleep(
    seconds: Annotated[float, "How long to sleep", {"minimum": 0, "maximum": MAX_SECONDS}],
    context: ToolContext,
) -> str:
    """Wait for some seconds."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    while (left := seconds - (loop.time() - start)) > 0:
        if not await context.sleep(min(left, 1.0)):
            return f"[ERROR] interrupted after {loop.time() - start:.1f} s"
        context.progress(f"{min(loop.time() - start, seconds):.0f} of {seconds:g} s\n")
    return f"slept {seconds:g} s"
