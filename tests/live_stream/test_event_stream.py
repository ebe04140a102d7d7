"""Server-sent events: the socket's frames for clients without sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from agentadmin.access.models import RoleAssignment
from runs_app import cursors, stream
from runs_app.live.timing import timing
from runs_app.reader import current_reader
from tests.live_stream import journal
from tests.live_stream.http import EventSource

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadRef

pytestmark = pytest.mark.django_db(transaction=True)

type Listen = Callable[..., Awaitable[EventSource]]

commit = sync_to_async(journal.commit)
commit_and_publish = sync_to_async(journal.commit_and_publish)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    made: ThreadRef = await sync_to_async(journal.new_thread)()
    return made


@pytest.fixture
async def listen(cookie: str) -> AsyncIterator[Listen]:
    """Open event streams as the viewer, or with other headers."""
    opened: list[EventSource] = []

    async def open_source(thread_id: str, query: str = "", **headers: str) -> EventSource:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        path = f"/api/v1/threads/{thread_id}/events{query}"
        source = EventSource(path, {"cookie": cookie, **named})
        opened.append(source)
        await source.open()
        return source

    yield open_source
    for source in opened:
        await source.leave()


async def test_events_stream_with_their_cursor_as_id(listen: Listen, thread: ThreadRef) -> None:
    source = await listen(thread.id)
    assert source.status == 200
    assert source.headers["content-type"] == "text/event-stream"
    assert source.headers["cache-control"] == "no-store"
    assert source.headers["x-accel-buffering"] == "no"
    assert "default-src" in source.headers["content-security-policy"]
    assert (await source.event())[:2] == ("", "ready")
    await commit_and_publish(thread, "one")
    id_, name, event = await source.event()
    assert (id_, name) == (cursors.format(thread.id, 1), "message")
    assert (event["seq"], event["type"], event["data"]) == (1, "state/changed", {"text": "one"})


async def test_the_last_event_id_wins_over_the_query(listen: Listen, thread: ThreadRef) -> None:
    await commit_and_publish(thread, *"abcde")
    last = cursors.format(thread.id, 3)
    source = await listen(thread.id, "?after=0", last_event_id=last)
    assert [event["seq"] for event in await source.until_fact(5)] == [4, 5]
    again = await listen(thread.id, f"?after={last}", last_event_id="")
    assert [event["seq"] for event in await again.until_fact(5)] == [4, 5]


@pytest.mark.parametrize(
    ("cursor", "status", "code"),
    [
        ("nonsense", 400, "bad_cursor"),
        ("deadbeef.0-0", 400, "foreign_cursor"),
        ("{tail}.9-0", 409, "cursor_ahead"),
    ],
)
async def test_a_wrong_cursor_is_a_problem_before_the_stream_begins(
    listen: Listen, thread: ThreadRef, cursor: str, status: int, code: str
) -> None:
    cursor = cursor.format(tail=thread.id[-8:])
    for query, headers in (
        (f"?after={cursor}", {}),
        ("?after=0", {"last_event_id": cursor}),
    ):
        source = await listen(thread.id, query, **headers)
        assert source.status == status
        assert source.headers["content-type"] == "application/problem+json"
        assert (await source.body())["code"] == code


async def test_who_may_not_read_gets_a_problem(listen: Listen, thread: ThreadRef) -> None:
    assert (await listen(thread.id, cookie="")).status == 401
    assert (await listen(str(uuid4()))).status == 404
    assert (await listen("not-a-uuid")).status == 404
    await RoleAssignment.objects.all().adelete()
    assert (await listen(thread.id)).status == 403


async def test_heartbeats_have_no_id(
    listen: Listen, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "ping", 0.05)
    source = await listen(thread.id, "?after=0")
    await commit_and_publish(thread, "one")
    await source.until_fact(1)
    assert await source.event() == ("", "ping", {"type": "ping"})
    assert source.last_id == cursors.format(thread.id, 1)


async def test_whoever_loses_the_role_is_told_and_the_stream_ends(
    listen: Listen, thread: ThreadRef
) -> None:
    source = await listen(thread.id)
    await source.event()
    await RoleAssignment.objects.all().adelete()
    assert await source.event() == (
        "",
        "closing",
        {"type": "closing", "code": 4403, "reason": "forbidden"},
    )
    assert (await source.event())[1] == "end"


async def test_text_breaks_no_frame(listen: Listen, thread: ThreadRef) -> None:
    source = await listen(thread.id)
    hostile = "a\n\nb\r\ndata: x\u2028\u0000\ud800"
    facts = await commit(thread, [journal.say(hostile)])
    stream.publish_facts(thread, facts)
    assert (await source.until_fact(1))[0]["data"] == {"text": hostile}


async def test_going_away_leaves_nothing_behind(listen: Listen, thread: ThreadRef) -> None:
    source = await listen(thread.id, "?after=0")
    await commit_and_publish(thread, "one")
    await source.until_fact(1)
    await source.leave()
    assert not current_reader()._feeds
    assert current_reader()._task is None
