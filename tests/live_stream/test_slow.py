"""Clients that take too little cost a bounded amount of memory, and lose nothing in the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from asgiref.sync import sync_to_async

from runs_app import stream
from runs_app.live import inbox
from runs_app.live.timing import timing
from runs_app.reader import current_reader
from tests.live_stream import journal
from tests.live_stream.stuck import StuckClient
from tests.live_stream.waiting import until

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadRef
    from tests.live_stream.conftest import Connect

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT = 150


@pytest.fixture(autouse=True)
def small_inboxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MAX_ITEMS", LIMIT)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    made: ThreadRef = await sync_to_async(journal.new_thread)()
    return made


async def publish(thread: ThreadRef, count: int, *, text: str = "x") -> None:
    facts = await sync_to_async(journal.commit)(thread, [journal.say(text)] * count)
    stream.publish_facts(thread, facts)


def boxes(thread: ThreadRef) -> list[inbox.Inbox]:
    """The inboxes of those who watch the thread."""
    feed = current_reader()._feeds.get(thread.id)
    return [] if feed is None else list(feed._inboxes)


def most_held(thread: ThreadRef) -> int:
    """How much the slowest of them has not taken."""
    return max(len(box._items) for box in boxes(thread))


async def test_a_slow_client_is_closed_and_comes_back_without_loss(
    connect: Connect, cookie: str, thread: ThreadRef
) -> None:
    client = StuckClient(f"/ws/threads/{thread.id}?after=0", cookie, takes=4)
    await client.start()
    await until(lambda: len(boxes(thread)) == 1)
    for _ in range(7):
        await publish(thread, 50)
        await asyncio.sleep(0.05)
        assert most_held(thread) <= LIMIT
    client.thaw()
    assert await client.until_closed() == 4408
    assert client.frames[-1] == {"type": "closing", "code": 4408, "reason": "slow_consumer"}
    again = await connect(f"/ws/threads/{thread.id}?after={client.cursor}")
    await again.until_fact(350)
    assert client.facts + again.facts == list(range(1, 351))
    await client.leave()


async def test_long_events_count_by_their_length(
    cookie: str, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MAX_CHARACTERS", 1_000_000)
    client = StuckClient(f"/ws/threads/{thread.id}", cookie, takes=1)
    await client.start()
    await until(lambda: len(boxes(thread)) == 1)
    await publish(thread, 12, text="x" * 100_000)
    await until(lambda: boxes(thread)[0]._closing is not None)
    assert most_held(thread) == 0
    client.thaw()
    assert await client.until_closed() == 4408
    await client.leave()


async def test_a_client_that_takes_nothing_at_all_is_let_go(
    cookie: str, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "send", 0.2)
    client = StuckClient(f"/ws/threads/{thread.id}", cookie, takes=0)
    client._takes = 1
    await client.start()
    await until(lambda: len(boxes(thread)) == 1)
    await publish(thread, 3)
    await until(lambda: not current_reader()._feeds)
    await client.leave()


async def test_two_hundred_watchers_cost_a_bounded_amount_and_a_quick_one_gets_everything(
    connect: Connect, cookie: str, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "recheck", 60)
    path = f"/ws/threads/{thread.id}?after=0"
    stuck = [StuckClient(path, cookie, takes=2) for _ in range(199)]
    for client in stuck:
        await client.start()
    quick = await connect(path)
    await until(lambda: len(boxes(thread)) == 200, 20)
    for step in range(1, 7):
        await publish(thread, 50)
        await quick.until_fact(step * 50)
        assert most_held(thread) <= LIMIT
    assert quick.facts == list(range(1, 301))
    assert sum(len(box._items) for box in boxes(thread)) <= LIMIT
    for client in stuck:
        client.thaw()
    assert {await client.until_closed() for client in stuck} == {4408}
    for client in stuck:
        await client.leave()
