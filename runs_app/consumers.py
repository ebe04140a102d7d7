"""The sockets: one thread's events, and hints about every thread that one may see."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from agentadmin.access.authentication import actor_from_scope
from agentadmin.access.errors import Hidden, Refused
from agentadmin.access.routes import PUBLIC, requires
from agentadmin.engine.errors import InvalidInput, NotFound
from runs_app import cursors
from runs_app.live.access import (
    audit_refusal,
    begin_watching,
    open_position,
    watched_thread,
)
from runs_app.live.connection import LiveConnection
from runs_app.live.fleet import FleetWatch
from runs_app.live.records import Watched, in_database
from runs_app.live.watch import ThreadWatch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from runs_app.live.frames import Frame


@requires("sessions:read")
class ThreadConsumer(LiveConnection):
    """`/ws/threads/{id}?after=<cursor>`."""

    async def frames(self) -> AsyncGenerator[Frame]:
        """The thread's events behind the cursor."""
        thread = await in_database(self._begin)
        position = open_position(thread, self._after())
        async with aclosing(ThreadWatch(thread, position, self._again).frames()) as frames:
            async for frame in frames:
                yield frame

    def hear(self, message: dict[str, Any]) -> None:
        """An `ack` says how far the client has come; the server keeps no state about it."""
        if message.get("type") != "ack":
            super().hear(message)
        elif not isinstance(message.get("cursor"), str):
            raise InvalidInput("A cursor is text.", path="cursor")
        else:
            cursors.parse(message["cursor"], self._thread_id, field="cursor")

    @property
    def _thread_id(self) -> str:
        return str(self.scope["url_route"]["kwargs"]["thread_id"]).lower()

    def _begin(self) -> Watched:
        actor = actor_from_scope(self.scope)
        try:
            return begin_watching(actor, self._thread_id)
        except (Refused, Hidden) as error:
            audit_refusal(actor, error, self.scope["path"])
            raise

    def _again(self) -> Watched:
        return watched_thread(actor_from_scope(self.scope), self._thread_id)

    def _after(self) -> str | None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        return query.get("after", [None])[-1]


@requires("sessions:read")
class FleetConsumer(LiveConnection):
    """`/ws/fleet`."""

    async def frames(self) -> AsyncGenerator[Frame]:
        """Hints about the threads that this actor may see."""
        watch = FleetWatch(lambda: actor_from_scope(self.scope))
        async with aclosing(watch.frames()) as frames:
            async for frame in frames:
                yield frame


@requires(PUBLIC)
class UnknownConsumer(LiveConnection):
    """Any other address: said so, not dropped."""

    def frames(self) -> AsyncGenerator[Frame]:
        """Nothing is here."""
        raise NotFound("There is no such socket.")
