"""What a publisher leaves in the stream, whatever else happens to it."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from django.conf import settings
from redis import Redis

from agentadmin.engine.identity import ThreadKey
from agentadmin.engine.journal.base import ThreadRef
from agentadmin.engine.journal.facts import Fact
from runs_app.live.batch import MAXLEN
from runs_app.live.lanes import MAX_PENDING
from runs_app.live.timing import timing
from runs_app.live.wire import FLEET_CHANNEL, stream_key
from runs_app.live.writer import StreamWriter
from tests.live_stream.journal import RUN, delta

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def thread() -> ThreadRef:
    return ThreadRef(str(uuid4()), ThreadKey("default", None, "s", "demo"))


@pytest.fixture
def writer(redis_client: Redis) -> Iterator[StreamWriter]:
    writer = StreamWriter()
    yield writer
    writer.close(5)


def fact(seq: int, text: str = "x") -> Fact:
    at = datetime.now(UTC)
    return Fact(seq, "state/changed", {"text": text}, "t1", RUN, None, True, at, 1, b"")


def entries(client: Redis, thread: ThreadRef) -> list[tuple[str, dict[str, Any] | None]]:
    found: Any = client.xrange(stream_key(thread.id))
    return [(i.decode(), json.loads(f[b"e"]) if b"e" in f else None) for i, f in found]


def test_deltas_are_joined_and_stand_before_the_fact_that_ends_them(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(7)])
    for index, character in enumerate("hello world"):
        writer.delta(thread.id, delta(character, index), RUN, "t1")
    writer.facts(thread.id, [fact(8)])
    assert writer.flush(5)
    ids = [id_ for id_, _ in entries(redis_client, thread)]
    assert ids[0] == "7-0"
    assert ids[-1] == "8-0"
    deltas = [event for _, event in entries(redis_client, thread)[1:-1] if event]
    assert "".join(event["data"]["delta"] for event in deltas) == "hello world"
    assert [event["id"] for event in deltas] == [f"{thread.id}-{i}" for i in ids[1:-1]]
    assert len(deltas) <= 2
    assert deltas[0]["run_id"] == RUN
    assert "seq" not in deltas[0]


def test_interleaved_blocks_keep_their_own_texts(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(1)])
    for index in range(30):
        for block in ("a", "b", "c"):
            writer.delta(thread.id, delta(block, index, block=block), RUN, "t1")
    assert writer.flush(5)
    texts = {"a": "", "b": "", "c": ""}
    for _, event in entries(redis_client, thread)[1:]:
        assert event
        data = event["data"]
        assert len(texts[data["block"]]) == data["offset"]
        texts[data["block"]] += data["delta"]
    assert texts == {block: block * 30 for block in "abc"}


def test_a_gap_in_the_offsets_is_not_joined_over(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.delta(thread.id, delta("ab", 0), RUN, "t1")
    writer.delta(thread.id, delta("xy", 7), RUN, "t1")
    assert writer.flush(5)
    found = [event["data"] for _, event in entries(redis_client, thread) if event]
    assert [(d["offset"], d["delta"]) for d in found] == [(0, "ab"), (7, "xy")]


def test_a_fact_published_twice_stands_once(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    other = StreamWriter()
    writer.facts(thread.id, [fact(1), fact(2)])
    writer.flush(5)
    other.facts(thread.id, [fact(1), fact(2), fact(3)])
    other.close(5)
    assert [id_ for id_, _ in entries(redis_client, thread)] == ["1-0", "2-0", "3-0"]


def test_a_refused_delta_goes_on_behind_the_top(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(1)])
    writer.flush(5)
    redis_client.xadd(stream_key(thread.id), {"t": "other"}, id="4-2")
    writer.delta(thread.id, delta("late", 0), RUN, "t1")
    writer.flush(5)
    writer.delta(thread.id, delta("r", 4), RUN, "t1")
    writer.flush(5)
    assert [id_ for id_, _ in entries(redis_client, thread)] == ["1-0", "4-2", "4-3", "4-4"]


def test_a_publisher_whose_lease_is_gone_adds_nothing_behind_its_successor(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(1)])
    writer.flush(5)
    writer.hold(thread.id, lambda: False)
    redis_client.xadd(stream_key(thread.id), {"t": "successor"}, id="2-0")
    writer.delta(thread.id, delta("ghost", 0), RUN, "t1")
    writer.flush(5)
    assert [id_ for id_, _ in entries(redis_client, thread)] == ["1-0", "2-0"]


def test_a_long_fact_is_named_and_left_in_the_database(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(1, "x" * 1_000_000)])
    writer.flush(5)
    assert entries(redis_client, thread) == [("1-0", None)]


def test_a_long_delta_is_cut_into_pieces(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.delta(thread.id, delta("é" * 50_000, 3), RUN, "t1")
    writer.flush(5)
    found = [event["data"] for _, event in entries(redis_client, thread) if event]
    assert sum(len(data["delta"]) for data in found) == 50_000
    assert [data["offset"] for data in found] == list(range(3, 50_003, 8192))


def test_a_stream_is_trimmed_and_expires(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    for start in range(1, 3000, 100):
        writer.facts(thread.id, [fact(seq) for seq in range(start, start + 100)])
        writer.flush(5)
    assert redis_client.xlen(stream_key(thread.id)) < MAXLEN + 200
    assert redis_client.ttl(stream_key(thread.id)) > 0


def test_lists_are_hinted_after_facts(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    with redis_client.pubsub() as pubsub:
        pubsub.subscribe(FLEET_CHANNEL)
        pubsub.get_message(timeout=2)
        writer.facts(thread.id, [fact(4)])
        message = pubsub.get_message(timeout=5)
    assert message is not None
    assert json.loads(message["data"]) == {"thread_id": thread.id, "head_seq": 4}


def test_a_dead_redis_blocks_nobody_is_logged_once_and_answers_again(
    thread: ThreadRef,
    redis_client: Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(timing, "retry", 0.05)
    socket = Path(settings.REDIS_URL.removeprefix("unix://"))
    link = tmp_path / "valkey.sock"
    link.symlink_to(socket)
    writer = StreamWriter(lambda: Redis(unix_socket_path=str(link), socket_timeout=2))
    writer.facts(thread.id, [fact(1)])
    writer.flush(5)
    with caplog.at_level(logging.INFO, "runs_app.live.writer"):
        link.unlink()
        redis_client.client_kill_filter(_type="normal", skipme=True)
        started = monotonic()
        for index in range(3):
            for n in range(MAX_PENDING * 2):
                writer.delta(thread.id, delta("x", n), RUN, "t1")
            writer.facts(thread.id, [fact(2 + index)])
            assert writer.flush(5)
        assert monotonic() - started < 5
        link.symlink_to(socket)
        Event().wait(0.1)
        writer.facts(thread.id, [fact(9)])
        writer.flush(5)
    writer.close(5)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert [id_ for id_, _ in entries(redis_client, thread)] == ["1-0", "9-0"]


def test_a_flushed_redis_is_written_to_again(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    writer.facts(thread.id, [fact(1)])
    writer.flush(5)
    redis_client.flushall()
    writer.delta(thread.id, delta("on", 0), RUN, "t1")
    writer.facts(thread.id, [fact(2)])
    writer.flush(5)
    assert [id_ for id_, _ in entries(redis_client, thread)] == ["1-1", "2-0"]


def test_every_thread_may_publish_at_once(
    writer: StreamWriter, thread: ThreadRef, redis_client: Redis
) -> None:
    others = [ThreadRef(str(uuid4()), thread.key) for _ in range(8)]

    def publish(ref: ThreadRef) -> None:
        for seq in range(1, 51):
            writer.delta(ref.id, delta("x", seq), RUN, "t1")
            writer.facts(ref.id, [fact(seq)])

    threads = [Thread(target=publish, args=(ref,)) for ref in others]
    for running in threads:
        running.start()
    for running in threads:
        running.join()
    assert writer.flush(10)
    for ref in others:
        facts = [id_ for id_, _ in entries(redis_client, ref) if id_.endswith("-0")]
        assert facts == [f"{seq}-0" for seq in range(1, 51)]
