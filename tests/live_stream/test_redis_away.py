"""A Redis that hangs or is gone costs watchers deltas and a little time, never facts."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest
from asgiref.sync import sync_to_async

from runs_app import stream
from tests.live_stream import journal
from tests.live_stream.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.journal.base import ThreadRef
    from runs_app.live.timing import Timing
    from tests.live_stream.conftest import Connect
    from tests.services.program import Program

pytestmark = pytest.mark.django_db(transaction=True)

commit_and_publish = sync_to_async(journal.commit_and_publish)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    made: ThreadRef = await sync_to_async(journal.new_thread)()
    return made


@pytest.fixture
def frozen(valkey_server: Program) -> Iterator[Program]:
    """The server; a test freezes it, and it is thawed afterwards whatever happened."""
    yield valkey_server
    valkey_server.thaw()
    assert stream.writer.flush(10)


async def test_facts_come_from_the_database_while_redis_hangs(
    connect: Connect, thread: ThreadRef, frozen: Program, quick: Timing
) -> None:
    quick.retry = 0.5
    socket = await connect(f"/ws/threads/{thread.id}")
    await socket.until("ready")
    await commit_and_publish(thread, "1")
    await socket.until_fact(1)
    frozen.freeze()
    await commit_and_publish(thread, "2", "3")
    await socket.until_fact(3)
    late = await connect(f"/ws/threads/{thread.id}?after=0")
    await late.until_fact(3)
    frozen.thaw()
    assert await sync_to_async(stream.writer.flush)(10)
    await until(lambda: monotonic() > stream.writer._down_until)
    journal.send_text(thread, "back")
    text = ""
    while text != "back":
        text += (await socket.until("event"))["event"]["data"].get("delta", "")
    await commit_and_publish(thread, "4")
    await socket.until_fact(4)
    await late.until_fact(4)
    assert socket.facts == late.facts == [1, 2, 3, 4]
