"""Live views over HTTP: a snapshot, and the events that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Limit, Uuid
from agentadmin.replies import reply
from runs_app.answers import Snapshot
from runs_app.live_snapshot import thread_snapshot
from runs_app.sse import event_stream
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, StreamingHttpResponse


live_router = Router()

EVENT_STREAM = {
    "responses": {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    "parameters": [
        {
            "in": "header",
            "name": "Last-Event-ID",
            "schema": {"type": "string"},
            "required": False,
            "description": "Where a client that comes back was; wins over `after`.",
        }
    ],
}


@live_router.get("/threads/{thread_id}/snapshot", operation_id="getSnapshot", response=Snapshot)
@requires(READ)
def get_snapshot(request: HttpRequest, thread_id: Uuid, limit: Limit = 50) -> HttpResponse:
    """Everything a live view needs, with the `cursor` that covers exactly that."""
    actor = caller(request)
    note_read(actor, thread_detail(actor, thread_id), "snapshot")
    return reply(thread_snapshot(actor, thread_id, limit=limit))


@live_router.get(
    "/threads/{thread_id}/events", operation_id="streamEvents", openapi_extra=EVENT_STREAM
)
@requires(READ)
def stream_events(
    request: HttpRequest, thread_id: Uuid, after: str | None = None
) -> StreamingHttpResponse:
    """Server-sent events behind a cursor; `Last-Event-ID` wins, heartbeats carry no id."""
    actor = caller(request)
    return event_stream(request, actor, thread_id, after)
