"""Hints about every thread, for lists: something changed, ask for it (design §7)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from contextvars import Context
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.db.models import Q

from agentadmin.access.actor import READ
from agentadmin.engine.clock import now
from agentadmin.engine.errors import Forbidden, NotAuthenticated
from agentadmin.engine.state import codec
from agentadmin.redis import reader as blocking_client
from runs_app.live.closing import CloseCode, Closing
from runs_app.live.frames import PING, RESET, ControlFrame, Frame
from runs_app.live.records import Watched, in_database, watched_rows
from runs_app.live.steady import Steady
from runs_app.live.timing import timing
from runs_app.live.wire import FLEET_CHANNEL
from sessions_app.models import AgentSession

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from agentadmin.access.actor import Actor

MAX_HINTS = 1000
"""More than this at once, and a list is better read anew."""
SILENCE = 30.0
_OVERLAP = timedelta(seconds=2)


class HintBox:
    """The newest hint of each thread that a watcher has not taken yet."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self._hints: dict[str, ControlFrame] = {}
        self._changed = asyncio.Event()

    def put(self, row: Watched) -> None:
        """Hint at a thread, if the watcher may know that it exists."""
        if not self.actor.sees(namespace=row.namespace, agent_id=row.agent_id, user_id=row.user_id):
            return
        if len(self._hints) >= MAX_HINTS:
            self.reset()
        elif RESET.type not in self._hints:
            self._hints[row.id] = hint_frame(row)
        self._changed.set()

    def reset(self) -> None:
        """Hints were lost or are too many: the list is to be read anew."""
        self._hints = {RESET.type: RESET}
        self._changed.set()

    async def take(self, seconds: float) -> list[ControlFrame]:
        """The hints that there are, at the latest after this long."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._changed.wait()
        except TimeoutError:
            return []
        self._changed.clear()
        hints, self._hints = self._hints, {}
        return list(hints.values())


class Fleet:
    """One subscription per web process; rows are read once for all watchers."""

    def __init__(self) -> None:
        self._boxes: set[HintBox] = set()
        self._task: asyncio.Task[None] | None = None
        self._ids: set[str] = set()
        self._changed = asyncio.Event()
        self._seen: OrderedDict[str, Watched] = OrderedDict()
        self._since = now()
        self._steady = Steady("live fleet")

    @asynccontextmanager
    async def watching(self, box: HintBox) -> AsyncIterator[None]:
        """Fill the box from now on."""
        self._boxes.add(box)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), context=Context())
        try:
            yield
        finally:
            self._boxes.discard(box)
            if not self._boxes:
                await self._stop()

    async def _stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task}, timeout=1)

    async def _run(self) -> None:
        self._since = now()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._steady.repeat(self._listen))
            group.create_task(self._steady.repeat(self._spread))
            group.create_task(self._steady.repeat(self._look))

    async def _listen(self) -> None:
        """Take hints in until the connection breaks; what was hinted meanwhile is lost."""
        async with blocking_client() as client, client.pubsub() as pubsub:
            await pubsub.subscribe(FLEET_CHANNEL)
            if self._steady.answered():
                for box in self._boxes:
                    box.reset()
            while True:
                message: Any = await pubsub.get_message(
                    ignore_subscribe_messages=True, timeout=SILENCE
                )
                if message is None:
                    await pubsub.ping()
                elif message["type"] == "message":
                    self._ids.add(codec.loads(message["data"])["thread_id"])
                    self._changed.set()

    async def _spread(self) -> None:
        """Read what the hints name, once for everybody."""
        await self._changed.wait()
        await asyncio.sleep(timing.fleet)
        self._changed.clear()
        ids, self._ids = self._ids, set()
        for row in await in_database(watched_rows, Q(id__in=list(ids)[:MAX_HINTS])):
            self._hand_on(row)

    async def _look(self) -> None:
        """Find changes whose hint was lost: the newest sessions, by their index."""
        await asyncio.sleep(timing.tick)
        since, self._since = self._since - _OVERLAP, now()
        for row in await in_database(changed_rows, since):
            if self._seen.get(row.id) != row:
                self._hand_on(row)

    def _hand_on(self, row: Watched) -> None:
        self._seen[row.id] = row
        self._seen.move_to_end(row.id)
        if len(self._seen) > 2 * MAX_HINTS:
            self._seen.popitem(last=False)
        for box in self._boxes:
            box.put(row)


def changed_rows(since: Any) -> list[Watched]:
    """The threads of the sessions that changed last."""
    sessions = AgentSession.objects.filter(updated_at__gt=since).order_by("-updated_at", "-id")
    ids = list(sessions.values_list("id", flat=True)[:500])
    return watched_rows(Q(session_id__in=ids))


def hint_frame(row: Watched) -> ControlFrame:
    """What lists are told about a thread."""
    head = {"version": row.version, "head_seq": row.head_seq}
    return ControlFrame("hint", {"thread_id": row.id, "status": row.status, **head})


class FleetWatch:
    """One watcher's hints; `again` says who it is by now."""

    def __init__(self, again: Callable[[], Actor]) -> None:
        self._again = again

    async def frames(self) -> AsyncGenerator[Frame]:
        """Every hint until the watcher leaves. Raises Closing."""
        loop = asyncio.get_running_loop()
        box = HintBox(await in_database(self._admitted))
        check_at, ping_at = loop.time() + timing.recheck, loop.time() + timing.ping
        async with current_fleet().watching(box):
            yield ControlFrame("ready", {})
            while True:
                for hint in await box.take(min(check_at, ping_at) - loop.time()):
                    yield hint
                if loop.time() >= check_at:
                    box.actor = await self._still_admitted()
                    check_at = loop.time() + timing.recheck
                if loop.time() >= ping_at:
                    ping_at = loop.time() + timing.ping
                    yield PING

    def _admitted(self) -> Actor:
        actor = self._again()
        actor.require(READ)
        return actor

    async def _still_admitted(self) -> Actor:
        try:
            return await in_database(self._admitted)
        except NotAuthenticated:
            raise Closing(CloseCode.NOT_AUTHENTICATED, "not_authenticated") from None
        except Forbidden:
            raise Closing(CloseCode.NOT_ALLOWED, "forbidden") from None


_fleets: WeakKeyDictionary[asyncio.AbstractEventLoop, Fleet] = WeakKeyDictionary()


def current_fleet() -> Fleet:
    """The fleet of this process, which lives in the loop that runs now."""
    return _fleets.setdefault(asyncio.get_running_loop(), Fleet())
