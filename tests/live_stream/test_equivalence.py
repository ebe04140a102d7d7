"""Design §9.7: old page + events after its cursor == fresh page, whatever the stream loses."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import sync_to_async

from agentadmin.access.actor import Actor
from runs_app.live_snapshot import thread_snapshot
from sessions_app.models import AgentThread
from tests.live_stream import journal
from tests.live_stream.script import Script
from tests.live_stream.view import View

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadRef
    from tests.live_stream.conftest import Connect
    from tests.live_stream.socket import Socket

pytestmark = pytest.mark.django_db(transaction=True)

READER = Actor.system("tests")


async def snapshot(thread: ThreadRef) -> dict[str, Any]:
    read = sync_to_async(thread_snapshot)
    found: dict[str, Any] = await read(READER, thread.id, limit=200)
    return found


class Watcher:
    """Opens a page, then follows it over a socket, leaving and coming back as it likes."""

    def __init__(self, connect: Connect, thread: ThreadRef, page: dict[str, Any]) -> None:
        self.view = View(page)
        self._connect = connect
        self._thread = thread
        self._socket: Socket | None = None
        self._reading: asyncio.Task[None] | None = None

    async def come(self) -> None:
        """Open a socket at the view's cursor."""
        path = f"/ws/threads/{self._thread.id}?after={self.view.cursor}"
        self._socket = await self._connect(path)
        self._reading = asyncio.create_task(self._read(self._socket))

    async def go(self) -> None:
        """Leave, wherever the events are."""
        assert self._reading
        assert self._socket
        self._reading.cancel()
        await asyncio.wait([self._reading])
        await self._socket.leave()

    async def _read(self, socket: Socket) -> None:
        while True:
            frame = await socket.until("event")
            self.view.apply(frame)

    async def until(self, seq: int, fresh: dict[str, Any]) -> None:
        """Wait until the view shows the fresh page."""
        wanted = View(fresh).page()
        try:
            async with asyncio.timeout(10):
                while seq not in {self.view.seq, *self.view.seqs} or self.view.page() != wanted:
                    assert self._reading
                    if self._reading.done():
                        self._reading.result()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            assert self.view.page() == wanted


async def follow(connect: Connect, seed: int, *, lose_every: int, ends: bool) -> None:
    """Play a script before watchers that come at random places, and compare at the end."""
    random = Random(seed)
    thread = await sync_to_async(journal.new_thread)()
    script = Script(thread, seed, lose_every=lose_every, ends=ends)
    watchers: list[Watcher] = []
    steps = script.steps()
    while await sync_to_async(next)(steps, "end") != "end":
        if random.random() < 0.25 and len(watchers) < 6:
            watchers.append(Watcher(connect, thread, await snapshot(thread)))
            await watchers[-1].come()
        if watchers and random.random() < 0.2:
            comer = random.choice(watchers)
            await comer.go()
            await comer.come()
    await sync_to_async(script.flush)()
    head = await AgentThread.objects.values_list("head_seq", flat=True).aget(id=thread.id)
    fresh = await snapshot(thread)
    assert watchers
    for watcher in watchers:
        await watcher.until(head, fresh)
        first = watcher.view.seq
        assert watcher.view.seqs == list(range(first + 1, head + 1))
        await watcher.go()
    await sync_to_async(script.close)()


@pytest.mark.parametrize("seed", range(6))
async def test_a_whole_stream_makes_the_same_page_in_the_middle_of_a_run(
    connect: Connect, seed: int
) -> None:
    await follow(connect, seed, lose_every=0, ends=False)


@pytest.mark.parametrize("lose_every", [2, 3, 5, 7])
@pytest.mark.parametrize("seed", range(3))
async def test_a_stream_with_holes_makes_the_same_page_when_the_run_has_ended(
    connect: Connect, seed: int, lose_every: int
) -> None:
    await follow(connect, 100 + seed, lose_every=lose_every, ends=True)


async def test_resuming_after_every_cursor_gives_each_fact_once(connect: Connect) -> None:
    thread = await sync_to_async(journal.new_thread)()
    page = await snapshot(thread)
    script = Script(thread, 7, lose_every=0, ends=True)
    await sync_to_async(lambda: list(script.steps()))()
    await sync_to_async(script.close)()
    head = await AgentThread.objects.values_list("head_seq", flat=True).aget(id=thread.id)
    socket = await connect(f"/ws/threads/{thread.id}?after=0")
    places: list[tuple[str, int]] = [(page["cursor"], 0)]
    while places[-1][1] != head:
        frame = await socket.until("event")
        places.append((frame["cursor"], frame["event"].get("seq") or places[-1][1]))
    assert len({cursor for cursor, _ in places}) == len(places)
    for cursor, seq in places[::5]:
        again = await connect(f"/ws/threads/{thread.id}?after={cursor}")
        if seq < head:
            await again.until_fact(head)
        assert again.facts == list(range(seq + 1, head + 1))
        await again.leave()
