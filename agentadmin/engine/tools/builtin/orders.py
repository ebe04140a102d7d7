"""`create_order`: a pretended external system, whose effect must never be repeated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from agentadmin.engine.tools.context import ToolContext

MAX_DELAY = 120


@runtime_checkable
class OrderBook(Protocol):
    """Records orders outside of the engine; put it into the RuntimeContext by this type."""

    async def record_order(self, context: ToolContext, sku: str, quantity: int) -> str:
        """Record one order and return its number."""


@tool(effect=Effect.EXTERNAL)
async def create_order(
    sku: Annotated[str, "What to order", {"minLength": 1, "maxLength": 200}],
    context: ToolContext,
    quantity: Annotated[int, "How many", {"minimum": 1, "maximum": 1_000_000}] = 1,
    delay_before: Annotated[
        float, "Seconds before it is recorded", {"minimum": 0, "maximum": MAX_DELAY}
    ] = 0,
    delay_after: Annotated[
        float, "Seconds after it is recorded", {"minimum": 0, "maximum": MAX_DELAY}
    ] = 0,
) -> str:
    """Order something."""
    book = context.runtime.get(OrderBook)  # type: ignore[type-abstract]  # a port, looked up by type
    if book is None:
        raise ToolError("no order system is connected")
    await asyncio.sleep(delay_before)
    number = await book.record_order(context, sku, quantity)
    await asyncio.sleep(delay_after)
    return f"order {number}: {quantity} x {sku}"
