"""The same events over HTTP, for clients without websockets (contract §3, `streamEvents`)."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

from django.http import StreamingHttpResponse

from agentadmin.access.authentication import actor_again
from agentadmin.engine.errors import AgentAdminError
from runs_app.live.access import begin_watching, open_position, watched_thread
from runs_app.live.closing import CloseCode, Closing
from runs_app.live.frames import closing_frame, error_frame
from runs_app.live.watch import ThreadWatch
from runs_app.live.watching import open_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from django.http import HttpRequest

    from agentadmin.access.actor import Actor
    from runs_app.live.records import Watched

log = logging.getLogger(__name__)

RETRY = "retry: 1000\n\n"
"""How long a browser waits before it comes back, in milliseconds."""


def event_stream(
    request: HttpRequest, actor: Actor, thread_id: str, after: str | None
) -> StreamingHttpResponse:
    """The thread's events behind a cursor; `Last-Event-ID` wins over `after`.

    Whatever is wrong is raised before the first byte, so that it is answered as problem JSON.
    """
    thread = begin_watching(actor, thread_id)
    position = open_position(thread, request.headers.get("Last-Event-ID") or after)
    watch = ThreadWatch(thread, position, _again(request, thread_id))
    response = StreamingHttpResponse(_body(watch), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _again(request: HttpRequest, thread_id: str) -> Callable[[], Watched]:
    return lambda: watched_thread(actor_again(request), thread_id)


async def _body(watch: ThreadWatch) -> AsyncGenerator[str]:
    yield RETRY
    try:
        with open_stream():
            async with aclosing(watch.frames()) as frames:
                async for frame in frames:
                    yield frame.sse()
    except AgentAdminError as error:
        yield error_frame(error).sse()
    except Closing as closing:
        yield closing_frame(closing).sse()
    except Exception:
        log.exception("live: an event stream failed")
        yield closing_frame(Closing(CloseCode.INTERNAL, "internal_error")).sse()
