"""A thread's socket: what it says to whom, and that it loses nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session

from agentadmin.access.models import RoleAssignment
from runs_app import cursors, stream
from runs_app.live.timing import timing
from runs_app.live.wire import stream_key
from runs_app.reader import current_reader
from tests.live_stream import journal
from tests.live_stream.conftest import Connect, sign_in
from tests.live_stream.waiting import until

if TYPE_CHECKING:
    from redis import Redis

    from agentadmin.engine.journal.base import ThreadRef

pytestmark = pytest.mark.django_db(transaction=True)

new_thread = sync_to_async(journal.new_thread)
commit = sync_to_async(journal.commit)
commit_and_publish = sync_to_async(journal.commit_and_publish)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    return await new_thread()


async def test_events_come_as_they_are_committed(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    ready = await socket.frame()
    assert ready == {
        "type": "ready",
        "thread_id": thread.id,
        "head_seq": 0,
        "version": 0,
        "status": "idle",
    }
    await commit_and_publish(thread, "one", "two")
    event = await socket.until_fact(1)
    assert event["id"] == f"{thread.id}-1"
    assert (event["type"], event["thread_id"]) == ("state/changed", thread.id)
    assert event["data"] == {"text": "one"}
    await socket.until_fact(2)
    assert socket.cursor == cursors.format(thread.id, 2)
    journal.send_text(thread, "hello")
    frame = await socket.until("event")
    assert frame["cursor"] == cursors.format(thread.id, 2, 1)
    assert frame["event"]["data"]["offset"] == 0
    assert "seq" not in frame["event"]


async def test_without_a_cursor_only_what_is_new_comes(connect: Connect, thread: ThreadRef) -> None:
    await commit_and_publish(thread, "old")
    journal.send_text(thread, "old too")
    stream.writer.flush(5)
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await commit_and_publish(thread, "new")
    await socket.until_fact(2)
    assert [event["data"].get("text") for event in socket.events] == ["new"]


async def test_zero_is_the_beginning_and_history_comes_from_the_database(
    connect: Connect, thread: ThreadRef
) -> None:
    await commit(thread, [journal.say(str(n)) for n in range(450)])
    socket = await connect(f"/ws/threads/{thread.id}?after=0")
    await socket.until_fact(450)
    assert socket.facts == list(range(1, 451))
    await commit_and_publish(thread, "next")
    await socket.until_fact(451)


@pytest.mark.parametrize(
    ("cursor", "code"),
    [
        ("nonsense", "bad_cursor"),
        ("5-0", "bad_cursor"),
        ("%00", "bad_cursor"),
        ("{tail}.-1-0", "bad_cursor"),
        ("{tail}.1-0%0a", "bad_cursor"),
        ("{tail}.99999999999999999999-0", "bad_cursor"),
        ("deadbeef.0-0", "foreign_cursor"),
        ("{tail}.7-0", "cursor_ahead"),
    ],
)
async def test_a_wrong_cursor_is_named_and_closes(
    connect: Connect, thread: ThreadRef, cursor: str, code: str
) -> None:
    socket = await connect(f"/ws/threads/{thread.id}?after={cursor.format(tail=thread.id[-8:])}")
    assert socket.accepted
    error = await socket.frame()
    assert (error["type"], error["code"]) == ("error", code)
    assert await socket.until_closed() == 4400


async def test_who_is_not_signed_in_is_told_so(connect: Connect, thread: ThreadRef) -> None:
    for headers in ({"cookie": ""}, {"cookie": "", "authorization": "Bearer aa_wrong"}):
        socket = await connect(f"/ws/threads/{thread.id}", **headers)
        assert (await socket.frame())["type"] == "error"
        assert await socket.until_closed() == 4401


async def test_a_thread_outside_of_ones_scope_does_not_exist(
    connect: Connect, thread: ThreadRef
) -> None:
    elsewhere = await sync_to_async(sign_in)("elsewhere", namespace="other")
    foreign = await connect(f"/ws/threads/{thread.id}", cookie=elsewhere)
    assert (await foreign.frame())["code"] == "not_found"
    assert await foreign.until_closed() == 4404
    for unknown in (str(uuid4()), "not-a-uuid", "%00", "🙂"):
        socket = await connect(f"/ws/threads/{unknown}")
        assert await socket.until_closed() == 4404
    assert await (await connect("/ws/nothing/here")).until_closed() == 4404


async def test_a_foreign_origin_is_refused_before_it_is_accepted(
    connect: Connect, thread: ThreadRef
) -> None:
    for origin in ("https://evil.example", "null", "https://localhost.evil.example"):
        socket = await connect(f"/ws/threads/{thread.id}", origin=origin)
        assert not socket.accepted
    ours = await connect(f"/ws/threads/{thread.id}", origin="http://localhost:8000")
    assert ours.accepted


async def test_whoever_loses_the_role_is_closed(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await RoleAssignment.objects.all().adelete()
    frame = await socket.until("closing")
    assert frame == {"type": "closing", "code": 4403, "reason": "forbidden"}
    assert await socket.until_closed() == 4403


async def test_whoever_signs_out_is_closed_though_events_flow(
    connect: Connect, thread: ThreadRef
) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await Session.objects.all().adelete()

    async def talk() -> None:
        while True:
            await commit_and_publish(thread, "still here")
            await asyncio.sleep(0.01)

    talking = asyncio.create_task(talk())
    assert await socket.until_closed() == 4401
    talking.cancel()


async def test_malformed_frames_are_answered(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    malformed = [
        *("", "{", "[]", "null", '"x"', "{}", '{"type":1}', '{"type":"nonsense"}'),
        *('{"type":"ack"}', '{"type":"ack","cursor":7}', '{"type":"ack","cursor":"x"}'),
        *('{"type":"filter","types":"x"}', '{"type":"filter","types":[1]}'),
        *("[" * 2000, '{"type":"' + "x" * 20_000 + '"}', '{"type":"filter","types":["\\ud800"'),
    ]
    for text in malformed:
        await socket.say(text)
        assert (await socket.frame())["type"] == "error"
    await socket.say_bytes(b"\xff\x00")
    assert (await socket.frame())["type"] == "error"
    await socket.say({"type": "ack", "cursor": cursors.format(thread.id, 0)})
    await commit_and_publish(thread, "alive")
    await socket.until_fact(1)


async def test_a_filter_names_the_types_that_come(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await socket.say({"type": "filter", "types": ["run/start"]})
    await socket.say("?")
    await socket.until("error")
    facts = await commit(
        thread, [journal.say("a"), journal.say("b", type_="run/start"), journal.say("c")]
    )
    stream.publish_facts(thread, facts)
    await socket.until_fact(2)
    assert socket.cursor == cursors.format(thread.id, 2)
    assert [event["type"] for event in socket.events] == ["run/start"]


async def test_a_fact_that_nobody_published_comes_with_the_next_look(
    connect: Connect, thread: ThreadRef
) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await commit(thread, [journal.say("silent")])
    await socket.until_fact(1)


async def test_a_hole_in_the_stream_is_filled_before_what_follows(
    connect: Connect, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "tick", 60)
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await commit(thread, [journal.say("lost 1"), journal.say("lost 2")])
    await commit_and_publish(thread, "3")
    await socket.until_fact(3)
    await commit(thread, [journal.say("lost 4")])
    facts = await commit(thread, [journal.say("5")])
    stream.publish_facts(thread, facts)
    journal.send_text(thread, "x")
    frame = await socket.until_fact(5)
    assert frame["data"] == {"text": "5"}
    assert socket.facts == [1, 2, 3, 4, 5]


async def test_facts_published_in_the_wrong_order_come_in_the_right_one(
    connect: Connect, thread: ThreadRef
) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    first = await commit(thread, [journal.say("1")])
    second = await commit(thread, [journal.say("2")])
    stream.publish_facts(thread, second)
    stream.publish_facts(thread, first)
    await socket.until_fact(2)
    await commit_and_publish(thread, "3")
    await socket.until_fact(3)
    assert socket.facts == [1, 2, 3]


async def test_a_flushed_redis_costs_no_fact(
    connect: Connect, thread: ThreadRef, redis_client: Redis
) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await commit_and_publish(thread, "1")
    await socket.until_fact(1)
    redis_client.flushall()
    await commit_and_publish(thread, "2")
    await socket.until_fact(2)
    journal.send_text(thread, "on")
    redis_client.flushall()
    await commit(thread, [journal.say("3")])
    await socket.until_fact(3)
    assert socket.facts == [1, 2, 3]


async def test_a_phantom_in_the_stream_is_not_passed_on(
    connect: Connect, thread: ThreadRef, redis_client: Redis
) -> None:
    """An entry whose commit failed after all: nothing is shown, and nothing after it is lost."""
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    redis_client.xadd(stream_key(thread.id), {"t": "ghost", "e": '{"seq":1}'}, id="9-0")
    await commit(thread, [journal.say("real")])
    assert (await socket.until_fact(1))["data"] == {"text": "real"}


async def test_long_facts_and_hostile_text_come_whole(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    hostile = 'a\u0000\u2028"\\</script>\r\n\n🙂\ud800'
    await commit_and_publish(thread, "x" * 200_000, hostile)
    assert (await socket.until_fact(1))["data"]["text"] == "x" * 200_000
    assert (await socket.until_fact(2))["data"]["text"] == hostile


async def test_a_page_cursor_ahead_of_the_stream_loses_no_delta(
    connect: Connect, thread: ThreadRef
) -> None:
    """The page has read fact 2 from the database; the run still writes deltas behind fact 1."""
    await commit_and_publish(thread, "1")
    stream.writer.flush(5)
    facts = await commit(thread, [journal.say("2")])
    socket = await connect(f"/ws/threads/{thread.id}?after={cursors.format(thread.id, 2)}")
    await socket.until("ready")
    journal.send_text(thread, "abc")
    stream.writer.flush(5)
    stream.publish_facts(thread, facts)
    text = ""
    while len(text) < 3:
        text += (await socket.until("event"))["event"]["data"]["delta"]
    assert text == "abc"
    assert cursors.parse(socket.cursor, thread.id).seq == 2


async def test_the_reader_rests_when_nobody_watches(connect: Connect, thread: ThreadRef) -> None:
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await until(lambda: current_reader()._task is not None)
    await socket.leave()
    assert current_reader()._task is None
    assert not current_reader()._feeds
