"""OpenAI-compatible servers: what they say, however they say it."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.messages import ToolUseBlock
from agentadmin.engine.models.base import Purpose
from tests.engine.models.asking import KEY, KEY_ENV, blocks, chunks, model, text, thoughts, usage
from tests.services.model_server import Line, Request, Script, call, delta, events, serving, sse


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


STOP = delta("stop")
TOOL_STOP = delta("tool_calls")


async def said(*data: Any) -> list[Any]:
    async with serving(events(*data)) as server:
        return await chunks(model(server.url))


async def calls(*data: Any) -> list[tuple[str, Any]]:
    found = [b for b in blocks(await said(*data)) if isinstance(b, ToolUseBlock)]
    assert len({block.id for block in found}) == len(found)
    return [(block.name, block.input) for block in found]


async def test_text_and_usage_are_streamed() -> None:
    counted = {
        "choices": [],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }
    opening = [delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo")]
    found = await said(*opening, STOP, counted)
    assert text(found) == "Hello"
    counts = usage(found)
    assert counts is not None
    assert (counts.input_tokens, counts.output_tokens, counts.cached_tokens) == (9, 2, 4)


async def test_the_request_says_what_the_definition_says() -> None:
    tool = {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}
    async with serving(events(delta(content="x"), STOP)) as server:
        asked = model(
            server.url,
            temperature=0.5,
            max_tokens=100,
            headers={"x-team": "blue"},
            body={"top_k": 3, "stream_options": None},
        )
        await chunks(asked, tools=[tool])
        await chunks(asked, tools=[tool], purpose=Purpose.SUMMARY)
        first, second = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.headers["x-team"] == "blue"
    assert first.body["tools"] == [{"type": "function", "function": tool}]
    assert (first.body["model"], first.body["temperature"]) == ("test-model", 0.5)
    assert (first.body["max_tokens"], first.body["top_k"]) == (100, 3)
    assert "stream_options" not in first.body
    assert "tools" not in second.body


async def test_a_server_without_a_key_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with serving(events(delta(content="x"), STOP)) as server:
        await chunks(model(server.url, api_key_env=None))
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_becomes_thinking(field: str) -> None:
    found = await said(delta(**{field: "hm"}, content=None), delta(content="so"), STOP)
    assert (thoughts(found), text(found)) == ("hm", "so")


async def test_content_may_be_null_or_a_list_of_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        "b",
        {"type": "surprise"},
    ]
    found = await said(delta(content=None), delta(content=parts), STOP)
    assert (thoughts(found), text(found)) == ("hm", "ab")


async def test_a_call_is_put_together_from_deltas_that_split_its_json() -> None:
    found = await calls(
        call(0, id="c1", type="function", name="add", arguments=""),
        call(0, arguments='{"a": 1, "te'),
        call(0, arguments='xt": "ü\\u'),
        call(0, arguments='00e9"}'),
        TOOL_STOP,
    )
    assert found == [("add", {"a": 1, "text": "üé"})]


A, B = '{"n": 1}', '{"n": 2}'
PARALLEL: dict[str, list[Any]] = {
    "by index": [
        call(0, id="x", name="f", arguments=""), call(1, id="y", name="g", arguments=""),
        call(0, arguments=A), call(1, arguments=B),
    ],
    "always index 0, other ids": [call(0, id="x", name="f", arguments=A),
                                  call(0, id="y", name="g", arguments=B)],
    "no index, with ids": [call(id="x", name="f", arguments=A[:4]), call(arguments=A[4:]),
                           call(id="y", name="g", arguments=B)],
    "index, no ids": [call(0, name="f", arguments=A[:3]), call(0, arguments=A[3:]),
                      call(1, name="g", arguments=B)],
    "neither": [call(name="f", arguments=A), call(name="g", arguments=B[:2]),
                call(arguments=B[2:])],
    "an object in the place of text": [call(0, id="x", name="f", arguments={"n": 1}),
                                       call(1, id="y", name="g", arguments={"n": 2})],
    "the id again with every piece": [call(0, id="x", name="f", arguments=A[:3]),
                                      call(0, id="x", name="f", arguments=A[3:]),
                                      call(0, id="y", name="g", arguments=B)],
    "the same id twice": [call(0, id="x", name="f", arguments=A),
                          call(1, id="x", name="g", arguments=B)],
}  # fmt: skip


@pytest.mark.parametrize("name", PARALLEL)
async def test_parallel_calls_are_told_apart(name: str) -> None:
    assert await calls(*PARALLEL[name], TOOL_STOP) == [("f", {"n": 1}), ("g", {"n": 2})]


async def test_cut_arguments_are_kept_as_the_text_they_came_as() -> None:
    found = await said(call(0, id="x", name="f", arguments='{"n": 1'), delta("length"))
    (block,) = blocks(found)
    assert isinstance(block, ToolUseBlock)
    assert (block.truncated, block.content) == (True, '{"n": 1')


async def test_what_a_server_wants_back_with_a_call_stays_with_it() -> None:
    extra = {"google": {"thought_signature": "sig=="}}
    found = await said(call(id="x", name="f", arguments="{}", extra_content=extra), TOOL_STOP)
    (block,) = blocks(found)
    assert isinstance(block, ToolUseBlock)
    assert block.metadata == {"extra_content": extra}


async def test_a_server_without_usage_and_one_with_odd_usage_are_borne() -> None:
    assert usage(await said(delta(content="x"), STOP)) is None
    odd = {**STOP, "usage": {"prompt_tokens": "nine", "completion_tokens": None}}
    counts = usage(await said(delta(content="x"), odd))
    assert counts is not None
    assert (counts.input_tokens, counts.output_tokens) == (0, 0)


async def test_a_server_that_does_not_stream_is_understood_when_it_uses_events() -> None:
    whole = {"choices": [{"message": {"content": "all"}, "finish_reason": "stop"}]}
    assert text(await said(whole)) == "all"


async def test_bytes_may_arrive_one_by_one_with_comments_between() -> None:
    async def dribble(line: Line, _request: Request) -> None:
        await line.head()
        data = b": keep alive\r\n\r\n" + sse(delta(content="ünï")).replace(b"\n", b"\r\n")
        for byte in data + sse(STOP) + b"data: [DONE]\n\n":
            await line.chunk(bytes([byte]))
        await line.end()

    async with serving(dribble) as server:
        assert text(await chunks(model(server.url))) == "ünï"


async def test_a_stream_that_stays_open_after_its_end_is_not_waited_for() -> None:
    async def linger(line: Line, _request: Request) -> None:
        await line.head()
        for entry in (delta(content="x"), STOP, "[DONE]"):
            await line.chunk(sse(entry))
        await line.gone()

    script: Script = linger
    async with serving(script) as server:
        assert text(await chunks(model(server.url))) == "x"


def test_a_context_window_is_known_only_of_the_provider_itself() -> None:
    assert model("http://127.0.0.1:9").context_window == 0
    assert model("http://127.0.0.1:9", context_window=32_000).context_window == 32_000
    assert model("", base_url=None).context_window == 128_000
    assert model("", "anthropic", base_url=None).context_window == 200_000
