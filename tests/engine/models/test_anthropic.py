"""Anthropic's messages: blocks, signatures and usage, as its servers stream them."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.messages import (
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    system_message,
    tool_message,
    user_message,
)
from agentadmin.engine.models.base import Purpose
from tests.engine.models.asking import KEY, KEY_ENV, blocks, chunks, model, text, thoughts, usage
from tests.services.model_server import Script, events, serving

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


def block(index: int, start: Json, *deltas: Json) -> list[Json]:
    """A content block with its deltas."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def message(*content: list[Json], stop: str = "end_turn", **counts: int) -> Script:
    """A whole answer."""
    begin = {"type": "message_start", "message": {"usage": {"input_tokens": 7, **counts}}}
    end = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}
    parts = [entry for part in content for entry in part]
    return events(begin, *parts, end, {"type": "message_stop"}, done=False)


def words(index: int, *pieces: str) -> list[Json]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


async def said(script: Script, **options: Any) -> list[Any]:
    async with serving(script) as server:
        return await chunks(model(server.url, "anthropic", **options))


async def test_text_and_usage_are_streamed() -> None:
    counts = {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 30}
    found = await said(message(words(0, "Hel", "lo"), **counts))
    assert text(found) == "Hello"
    used = usage(found)
    assert used is not None
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == (137, 5, 100)


async def test_the_request_says_what_the_definition_says() -> None:
    tool = {"name": "add", "description": "Adds.", "parameters": {"properties": {}}}
    async with serving(message(words(0, "x"))) as server:
        asked = model(server.url, "anthropic", temperature=0.1, body={"top_k": 3})
        await chunks(asked, system_message("Be kind."), user_message("hi"), tools=[tool])
        await chunks(asked, tools=[tool], purpose=Purpose.SUMMARY)
        first, second = server.requests
    assert first.path == "/v1/messages"
    assert first.headers["x-api-key"] == KEY
    assert first.body["system"] == "Be kind."
    assert first.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    assert first.body["tools"][0]["input_schema"] == {"type": "object", "properties": {}}
    assert (first.body["temperature"], first.body["top_k"]) == (0.1, 3)
    assert first.body["max_tokens"] == 8192
    assert "tools" not in second.body


async def test_a_server_without_a_key_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with serving(message(words(0, "x"))) as server:
        await chunks(model(f"{server.url}/v1", "anthropic", api_key_env=None))
        headers = server.requests[0].headers
    assert not {"x-api-key", "authorization"} & headers.keys()


async def test_parallel_calls_are_put_together() -> None:
    pieces = [{"type": "input_json_delta", "partial_json": p} for p in ("", '{"a"', ": [1", "]}")]
    whole = {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {"b": 2}}
    empty = {"type": "tool_use", "id": "toolu_3", "name": "h", "input": {}}
    start = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    found = await said(
        message(block(0, start, *pieces), block(1, whole), block(2, empty), stop="tool_use")
    )
    calls = [(b.id, b.name, b.input) for b in blocks(found) if isinstance(b, ToolUseBlock)]
    assert calls == [
        ("toolu_1", "f", {"a": [1]}), ("toolu_2", "g", {"b": 2}), ("toolu_3", "h", {}),
    ]  # fmt: skip


THOUGHTS = [
    block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "first "},
        {"type": "thinking_delta", "thinking": "thought"},
        {"type": "signature_delta", "signature": "sig-1"},
    ),
    block(1, {"type": "redacted_thinking", "data": "opaque-1"}),
    block(2, {"type": "redacted_thinking", "data": "opaque-2"}),
    block(3, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "s-2"}),
    block(4, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
]


async def test_thinking_goes_back_exactly_as_it_was_signed() -> None:
    async with serving(message(*THOUGHTS, stop="tool_use"), message(words(0, "done"))) as server:
        asked = model(server.url, "anthropic")
        found = await chunks(asked)
        made = blocks(found)
        result = ToolResultBlock.make(id="toolu_1", name="f", output="ok")
        await chunks(
            asked,
            user_message("hi"),
            assistant_message(made, name="a"),
            tool_message(result, name="a"),
        )
        sent = server.requests[1].body["messages"]
    assert thoughts(found) == "first thought"
    assert [type(b) for b in made[:4]] == [ThinkingBlock] * 4
    assert sent[1]["content"] == [
        {"type": "thinking", "thinking": "first thought", "signature": "sig-1"},
        {"type": "redacted_thinking", "data": "opaque-1"},
        {"type": "redacted_thinking", "data": "opaque-2"},
        {"type": "thinking", "thinking": "", "signature": "s-2"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    ]


async def test_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    odd = block(0, {"type": "future_block"}, {"type": "future_delta", "x": 1})
    found = await said(message([{"type": "future_event"}], odd, words(1, "fine")))
    assert text(found) == "fine"
