"""What the demo tools left behind, over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Page, Uuid
from agentadmin.replies import reply
from runs_app import schemas
from runs_app.answers import OrderItem
from runs_app.selectors.orders import demo_orders
from sessions_app.selectors.threads import thread_detail

demo_router = Router()


@demo_router.get("/demo/orders", operation_id="listDemoOrders", response=Page[OrderItem])
@requires(READ)
def list_demo_orders(request: HttpRequest, thread_id: Uuid) -> HttpResponse:
    """What `create_order` has recorded for a thread."""
    orders = demo_orders(thread_detail(caller(request), thread_id))
    return reply({"items": [schemas.order_item(order) for order in orders], "next_cursor": None})
