"""The pretended external system behind `create_order`: it records orders in a table of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import F

from runs_app.models import DemoOrder

if TYPE_CHECKING:
    from agentadmin.engine.tools.context import ToolContext


class DemoOrderBook:
    """The engine's `OrderBook` port for one thread."""

    def __init__(self, thread_id: str) -> None:
        self._thread_id = UUID(thread_id)

    async def record_order(self, context: ToolContext, sku: str, quantity: int) -> str:
        """Record one order; asked again for the same call it gives the same number."""
        turn_id = context.runtime.turn_id or ""
        return await sync_to_async(self._record)(turn_id, context.call_id, sku, quantity)

    def _record(self, turn_id: str, call_id: str, sku: str, quantity: int) -> str:
        order, created = DemoOrder.objects.get_or_create(
            thread_id=self._thread_id,
            turn_id=turn_id,
            call_id=call_id,
            defaults={"sku": sku, "quantity": quantity},
        )
        if not created:
            DemoOrder.objects.filter(id=order.id).update(times_asked=F("times_asked") + 1)
        return f"A-{order.id:05d}"
