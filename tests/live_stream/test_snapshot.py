"""`getSnapshot`: what a live view begins with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from django.test import Client

from agentadmin.engine.events import WireDelta
from agentadmin.engine.journal.facts import Fact, NewFact
from agentadmin.engine.messages import TextBlock, ToolResultBlock, assistant_message, tool_message
from runs_app import cursors, stream
from runs_app.live.wire import stream_key
from runs_app.live_snapshot import page_cursor
from runs_app.recorder import Recorder
from sessions_app.models import AgentThread
from tests.live_stream import journal
from tests.live_stream.conftest import sign_in
from tests.live_stream.script import submitted

if TYPE_CHECKING:
    from redis import Redis

    from agentadmin.engine.journal.base import ThreadRef

pytestmark = pytest.mark.django_db(transaction=True)

RUN = "run-of-snapshot"


@pytest.fixture
def thread(transactional_db: None) -> ThreadRef:
    return journal.new_thread()


@pytest.fixture
def client(transactional_db: None) -> Client:
    client = Client()
    client.cookies["sessionid"] = sign_in("viewer").partition("=")[2]
    return client


def snapshot(client: Client, thread: ThreadRef) -> dict[str, Any]:
    answer = client.get(f"/api/v1/threads/{thread.id}/snapshot")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = json.loads(answer.content)
    return found


def write(thread: ThreadRef, type_: str, payload: dict[str, Any], *, step: str = "1") -> Fact:
    fact = NewFact(type_, payload, f"turn-{thread.id}", f"{RUN}-{thread.id}", step)
    committed = journal.commit(thread, [fact], projector=Recorder())
    stream.publish_facts(thread, committed)
    return committed[0]


def start(thread: ThreadRef) -> Fact:
    started = write(thread, "turn/start", submitted("go"))
    write(thread, "run/start", {"attempt": 1, "worker": "w", "agent": None, "why": "admitted"})
    return started


def say(thread: ThreadRef, type_: str, block: str, text: str, offset: int = 0, **data: Any) -> None:
    made = WireDelta(type_, {"block": block, "offset": offset, "delta": text, **data}, "1")
    stream.writer.delta(thread.id, made, f"{RUN}-{thread.id}", f"turn-{thread.id}")
    assert stream.writer.flush(5)


def test_an_idle_thread_has_the_cursor_of_its_head(client: Client, thread: ThreadRef) -> None:
    found = snapshot(client, thread)
    assert found["cursor"] == cursors.format(thread.id, 0)
    assert (found["seq"], found["version"]) == (0, 0)
    assert found["messages"]["items"] == found["turns"] == found["blocks"] == []
    assert found["thread"]["id"] == thread.id
    journal.commit_and_publish(thread, "a", "b")
    assert snapshot(client, thread)["cursor"] == cursors.format(thread.id, 2)


def test_a_running_thread_shows_turn_run_input_and_the_blocks_so_far(
    client: Client, thread: ThreadRef
) -> None:
    started = start(thread)
    write(thread, "message/user", {"item": "u", "input": {"seq": started.seq, "index": 0}})
    say(thread, "text_block_delta", "b1", "hello ")
    say(thread, "text_block_delta", "b1", "world", 6)
    found = snapshot(client, thread)
    assert [turn["state"] for turn in found["turns"]] == ["running"]
    assert [run["status"] for run in found["runs"]] == ["running"]
    assert found["inputs"]["1"][0]["content"][0]["text"] == "go"
    assert found["messages"]["items"][0]["message"]["content"][0]["text"] == "go"
    block = found["blocks"][0]
    assert (block["block"], block["type"], block["text"]) == ("b1", "text_block", "hello world")
    assert (block["offset"], block["ended"]) == (0, False)
    assert found["cursor"] == cursors.format(thread.id, 3, 2)


def test_told_blocks_are_not_shown_again(client: Client, thread: ThreadRef) -> None:
    start(thread)
    say(thread, "text_block_delta", "b1", "done")
    message = assistant_message([TextBlock.make("done")], name="demo").to_dict()
    write(thread, "message/assistant", {"item": "a", "message": message})
    say(thread, "tool_result_delta", "b2", "one", call_id="c1")
    say(thread, "tool_result_delta", "b3", "two", call_id="c2")
    result = tool_message(ToolResultBlock.make(id="c1", name="t", output="one"), name="t").to_dict()
    write(thread, "tool/result", {"item": "r", "message": result, "call_id": "c1"})
    assert stream.writer.flush(5)
    assert [block["block"] for block in snapshot(client, thread)["blocks"]] == ["b3"]


def test_the_page_cursor_lies_before_the_running_blocks(thread: ThreadRef) -> None:
    start(thread)
    row = AgentThread.objects.get(id=thread.id)
    assert page_cursor(row, 2) == cursors.format(thread.id, 2)
    say(thread, "text_block_delta", "b1", "so far")
    assert page_cursor(row, 2) == cursors.format(thread.id, 2, 0)
    fact = NewFact("turn/start", submitted("later"), f"other-{thread.id}")
    journal.commit(thread, [fact], projector=Recorder())
    assert page_cursor(row, 3) == cursors.format(thread.id, 2, 0)


def test_without_redis_only_the_running_blocks_are_missing(
    client: Client, thread: ThreadRef, redis_client: Redis
) -> None:
    start(thread)
    say(thread, "text_block_delta", "b1", "lost")
    redis_client.delete(stream_key(thread.id))
    found = snapshot(client, thread)
    assert found["blocks"] == []
    assert cursors.parse(found["cursor"], thread.id).seq == 2


def test_open_questions_are_part_of_it(client: Client, thread: ThreadRef) -> None:
    start(thread)
    asked = {
        "interaction_id": str(uuid4()),
        "kind": "approval",
        "call_id": "c1",
        "tool": "execute",
        "input": {"command": "ls"},
        "call_hash": "0" * 64,
        "suggested_rules": [],
        "because": "default",
        "message": "May I?",
        "expires_at": None,
    }
    write(thread, "interaction/requested", asked)
    found = snapshot(client, thread)
    assert [each["id"] for each in found["interactions"]] == [asked["interaction_id"]]


def test_bad_requests_name_what_is_wrong(client: Client, thread: ThreadRef) -> None:
    for limit in ("-1", "0", "100000", "x"):
        answer = client.get(f"/api/v1/threads/{thread.id}/snapshot?limit={limit}")
        assert answer.status_code == 422
        assert "limit" in answer.json()["path"]
    assert client.get(f"/api/v1/threads/{uuid4()}/snapshot").status_code == 404
    assert Client().get(f"/api/v1/threads/{thread.id}/snapshot").status_code == 401
