"""Hints about all threads, for lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session

from agentadmin.access.models import RoleAssignment
from agentadmin.engine.clock import now
from runs_app import stream
from runs_app.live.fleet import current_fleet
from runs_app.live.timing import timing
from sessions_app.models import AgentSession
from tests.live_stream import journal
from tests.live_stream.conftest import Connect, sign_in
from tests.live_stream.waiting import until

if TYPE_CHECKING:
    from redis import Redis

    from agentadmin.engine.journal.base import ThreadRef
    from tests.live_stream.socket import Socket

pytestmark = pytest.mark.django_db(transaction=True)

new_thread = sync_to_async(journal.new_thread)
commit = sync_to_async(journal.commit)
commit_and_publish = sync_to_async(journal.commit_and_publish)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    made: ThreadRef = await new_thread()
    return made


async def listening(connect: Connect, **headers: str) -> Socket:
    """A fleet socket whose hints arrive."""
    socket = await connect("/ws/fleet", **headers)
    assert await socket.frame() == {"type": "ready"}
    return socket


async def test_a_commit_is_hinted_with_the_thread_as_it_is(
    connect: Connect, thread: ThreadRef
) -> None:
    socket = await listening(connect)
    await commit_and_publish(thread, "a", "b")
    assert await socket.until("hint") == {
        "type": "hint",
        "thread_id": thread.id,
        "status": "idle",
        "version": 0,
        "head_seq": 2,
    }


async def test_only_threads_that_one_may_see_are_hinted(
    connect: Connect, thread: ThreadRef
) -> None:
    elsewhere = await sync_to_async(sign_in)("elsewhere", namespace="other")
    socket = await listening(connect, cookie=elsewhere)
    theirs = await new_thread(namespace="other")
    await commit_and_publish(thread, "hidden")
    await commit_and_publish(theirs, "seen")
    assert (await socket.until("hint"))["thread_id"] == theirs.id


async def test_a_change_that_is_no_fact_can_be_hinted(connect: Connect, thread: ThreadRef) -> None:
    socket = await listening(connect)
    stream.hint_fleet(thread.id)
    assert (await socket.until("hint"))["thread_id"] == thread.id


async def test_many_hints_about_one_thread_are_one(
    connect: Connect, thread: ThreadRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "fleet", 0.5)
    monkeypatch.setattr(timing, "tick", 60)
    socket = await listening(connect)
    for _ in range(20):
        await commit_and_publish(thread, "x")
    assert (await socket.until("hint"))["head_seq"] == 20


async def test_a_lost_hint_is_found_by_the_next_look(connect: Connect, thread: ThreadRef) -> None:
    socket = await listening(connect)
    await commit(thread, [journal.say("silent")])
    await AgentSession.objects.filter(threads__id=thread.id).aupdate(updated_at=now())
    assert (await socket.until("hint"))["head_seq"] == 1


async def test_after_redis_was_away_the_list_is_to_be_read_anew(
    connect: Connect, thread: ThreadRef, redis_client: Redis
) -> None:
    socket = await listening(connect)
    stream.hint_fleet(thread.id)
    await socket.until("hint")
    redis_client.client_kill_filter(_type="pubsub")
    await socket.until("reset")
    await commit_and_publish(thread, "on")
    await socket.until("hint")


async def test_who_may_not_read_anything_gets_no_hints(connect: Connect) -> None:
    stranger = await connect("/ws/fleet", cookie="")
    assert await stranger.until_closed() == 4401
    watching = await listening(connect)
    await RoleAssignment.objects.all().adelete()
    assert (await watching.until("closing"))["code"] == 4403
    refused = await connect("/ws/fleet")
    assert await refused.until_closed() == 4403


async def test_signing_out_ends_the_hints(connect: Connect) -> None:
    socket = await listening(connect)
    await Session.objects.all().adelete()
    assert await socket.until_closed() == 4401
    await until(lambda: current_fleet()._task is None)
