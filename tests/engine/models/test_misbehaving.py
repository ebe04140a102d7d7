"""Servers that fail, break off, stay silent or talk nonsense: what each becomes, and what leaks."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.errors import ContextOverflow, ModelError
from tests.engine.models.asking import KEY, KEY_ENV, chunks, model
from tests.services.model_server import Line, Request, Script, delta, events, serving, sse, status

if TYPE_CHECKING:
    from collections.abc import Callable

PROVIDERS = ["openai", "anthropic"]
TEXT = {
    "openai": delta(content="half"),
    "anthropic": {
        "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "half"},
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def failure(provider: str, script: Script, **options: Any) -> ModelError:
    async with serving(script) as server:
        with pytest.raises(ModelError) as caught:
            await chunks(model(server.url, provider, **options))
    assert KEY not in f"{caught.value} {caught.value!r}"
    return caught.value


@pytest.mark.parametrize(
    ("code", "retryable", "words"),
    [
        (400, False, "refused the request for test-model: because"),
        (401, False, "does not accept the key in LOOPBACK_API_KEY"),
        (403, False, "does not let the key in LOOPBACK_API_KEY use test-model: because"),
        (404, False, "knows no model test-model at this base_url: because"),
        (302, False, "answered 302"),
        (408, True, "answered 408: because"),
        (409, True, "answered 409: because"),
        (429, True, "answered 429: because"),
        (500, True, "answered 500: because"),
        (529, True, "answered 529: because"),
    ],
)
async def test_a_status_is_permanent_or_worth_another_try(
    provider: str, code: int, retryable: bool, words: str
) -> None:
    error = await failure(provider, status(code, {"error": {"message": "because"}}))
    assert (error.retryable, words in error.detail) == (retryable, True), error.detail
    assert error.detail.startswith(f"{provider} (http://127.0.0.1:")


@pytest.mark.parametrize(
    "body",
    ["not json", "", "null", "[1]", '{"error": null}', '{"error": {"code": []}}', "9" * 9999],
)
async def test_an_error_with_any_body_is_told_in_a_short_sentence(provider: str, body: str) -> None:
    error = await failure(provider, status(500, body))
    assert error.retryable
    assert len(error.detail) < 800


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, {"code": "context_length_exceeded", "message": "Too long."}),
        (400, {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 5"}),
        (400, {"message": "This model's maximum context length is 4096 tokens."}),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}),
        (500, {"message": "please reduce the length of the messages"}),
    ],
)
async def test_a_conversation_that_is_too_long_is_recognised(
    provider: str, code: int, message: dict[str, str]
) -> None:
    error = await failure(provider, status(code, {"error": message}))
    assert isinstance(error, ContextOverflow)
    assert (error.code, error.retryable) == ("context_overflow", False)


async def test_an_empty_purse_is_not_tried_again() -> None:
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your quota."}}
    error = await failure("openai", status(429, body))
    assert (error.retryable, "no credit" in error.detail) == (False, True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
async def test_a_wish_to_be_left_alone_is_read(
    provider: str, headers: dict[str, str], seconds: float | None
) -> None:
    error = await failure(provider, status(429, {"error": {"message": "x"}}, **headers))
    assert error.retry_after == seconds


def broken(provider: str, ending: Callable[[Line], Any]) -> Script:
    async def script(line: Line, _request: Request) -> None:
        await line.head()
        await line.chunk(sse(TEXT[provider]))
        await ending(line)

    return script


async def _ended(line: Line) -> None:
    await line.end()


async def _cut(line: Line) -> None:
    line.writer.transport.abort()


async def _half_chunk(line: Line) -> None:
    await line.raw(b"40\r\ndata: {")


@pytest.mark.parametrize("ending", [_ended, _cut, _half_chunk])
async def test_a_stream_that_breaks_off_is_an_error(provider: str, ending: Any) -> None:
    error = await failure(provider, broken(provider, ending))
    assert any(words in error.detail for words in ("before its answer", "connection"))


@pytest.mark.parametrize("nonsense", ["{", "7", "[]", '"x"', "{'a': 1}", "[" * 100_000])
async def test_a_malformed_chunk_is_an_error(provider: str, nonsense: str) -> None:
    async def script(line: Line, _request: Request) -> None:
        await line.head()
        await line.chunk(f"event: message_delta\ndata: {nonsense}\n\n".encode())
        await line.end()

    error = await failure(provider, script)
    assert "cannot be read" in error.detail


async def test_bytes_that_are_no_text_are_an_error(provider: str) -> None:
    async def script(line: Line, _request: Request) -> None:
        await line.head()
        await line.chunk(b'event: x\ndata: {"a": "\xff\xfe"}\n\n')
        await line.end()

    assert "cannot be read" in (await failure(provider, script)).detail


async def test_something_else_than_a_stream_is_an_error(provider: str) -> None:
    error = await failure(provider, status(200, "<html>Sign in to the hotel's network</html>"))
    assert "before its answer" in error.detail


@pytest.mark.parametrize(
    ("body", "retryable"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, True),
        ({"type": "rate_limit_error", "message": "Slower"}, True),
        ({"type": "invalid_request_error", "message": "No such thing"}, False),
        ({"code": 502, "message": "upstream"}, True),
        ("just words", False),
    ],
)
async def test_an_error_inside_the_stream_is_told(
    provider: str, body: Any, retryable: bool
) -> None:
    error = await failure(provider, events({"type": "error", "error": body}))
    assert error.retryable == retryable, error.detail


async def test_an_answer_that_was_all_thinking_tells_which_limit_to_raise(provider: str) -> None:
    script = {
        "openai": events(delta(reasoning_content="hm"), delta("length")),
        "anthropic": events({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
    }[provider]
    error = await failure(provider, script)
    assert (error.retryable, "raise max_tokens" in error.detail) == (False, True)


async def test_an_answer_that_was_withheld_is_told(provider: str) -> None:
    script = {
        "openai": events(delta("content_filter")),
        "anthropic": events({"type": "message_delta", "delta": {"stop_reason": "refusal"}}),
    }[provider]
    error = await failure(provider, script)
    assert not error.retryable


async def test_silence_ends_by_the_patience_of_the_definition(provider: str) -> None:
    async def mute(line: Line, _request: Request) -> None:
        await line.gone()

    async def pings(line: Line, _request: Request) -> None:
        await line.head()
        while True:
            await line.chunk(b'event: ping\ndata: {"type": "ping"}\n\n: still here\n\n')
            await asyncio.sleep(0.05)

    for script in (mute, broken(provider, Line.gone), pings):
        if script is pings and provider == "openai":
            continue
        error = await failure(provider, script, timeout=0.3)
        assert error.retryable
        assert "silent for 0.3 s" in error.detail


async def test_nobody_there_and_no_such_name_are_told(provider: str) -> None:
    async with serving() as server:
        gone = server.url
    for url in (gone, "http://nowhere.invalid"):
        with pytest.raises(ModelError) as caught:
            await chunks(model(url, provider))
        assert caught.value.retryable
        assert "The connection to" in caught.value.detail


async def test_a_missing_key_is_told_by_its_name_before_anything_is_sent(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_ENV)
    async with serving(status(500, "x")) as server:
        with pytest.raises(ModelError, match="set the environment variable LOOPBACK_API_KEY"):
            await chunks(model(server.url, provider))
        assert not server.requests
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError, match=f"{provider.upper()}_API_KEY"):
        await chunks(model("", provider, base_url=None, api_key_env=None))


async def test_a_stopped_stream_closes_its_connection_at_once(provider: str) -> None:
    hung_up = asyncio.Event()

    async def endless(line: Line, _request: Request) -> None:
        await line.head()
        await line.chunk(sse(TEXT[provider]))
        await line.gone()
        hung_up.set()

    async with serving(endless) as server:
        first = asyncio.Event()

        async def listen() -> None:
            from agentadmin.engine.messages import user_message
            from agentadmin.engine.models.base import ModelRequest

            async for _ in model(server.url, provider).stream(ModelRequest([user_message("x")])):
                first.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(first.wait(), 5)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(hung_up.wait(), 5)
        # Not a speed test: the target is 0.2 s, and waiting for a timeout would take 5.
        assert time.monotonic() - started < 2


async def test_the_key_stays_out_of_logs_errors_and_reprs(
    provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"bad key {KEY} and Bearer {KEY}", "type": KEY}}
    for code in (200, 400, 401, 403, 429, 500):
        script = status(code, echo) if code != 200 else events({"type": "error", **echo})
        error = await failure(provider, script)
        assert KEY not in repr(error.__cause__)
    assert KEY not in caplog.text
    asked = model("http://127.0.0.1:9", provider)
    loaded: Any = asked.loaded
    assert KEY not in f"{asked!r} {loaded!r} {loaded._place()!r} {asked.options!r}"
