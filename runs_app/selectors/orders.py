"""The demo's orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs_app.models import DemoOrder

if TYPE_CHECKING:
    from sessions_app.models import AgentThread

MOST = 1000


def demo_orders(thread: AgentThread) -> list[DemoOrder]:
    """The orders that a thread has made, oldest first."""
    return list(DemoOrder.objects.filter(thread=thread).order_by("id")[:MOST])
