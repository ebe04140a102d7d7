"""Log lines: what they say, whose ids they carry, and that no secret ever stands in one."""

import asyncio
import json
import logging
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from agentadmin.logs import ContextFilter, JsonLines, KeyValueLines, bound, without_secrets
from agentadmin.trace import start_trace

Line = Callable[[], dict[str, Any]]


@pytest.fixture
def stream() -> StringIO:
    return StringIO()


@pytest.fixture
def log(stream: StringIO) -> logging.Logger:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    handler.addFilter(ContextFilter())
    logger = logging.Logger("tests.logs")
    logger.addHandler(handler)
    return logger


@pytest.fixture
def line(stream: StringIO) -> Line:
    return lambda: json.loads(stream.getvalue().splitlines()[-1])


def test_a_line_is_one_json_object_with_time_level_logger_and_trace(
    log: logging.Logger, line: Line
) -> None:
    trace = start_trace()
    log.warning("two\nlines of %s", "news")
    told = line()
    assert told.pop("time").endswith("Z")
    assert told == {
        "level": "WARNING",
        "logger": "tests.logs",
        "message": "two\nlines of news",
        "trace_id": trace,
    }


def test_ids_are_bound_within_a_block_also_in_threads_and_tasks(
    log: logging.Logger, stream: StringIO
) -> None:
    async def run() -> None:
        with bound(turn_id="turn", run_id="run"):
            await asyncio.create_task(asyncio.to_thread(log.warning, "thread"))
            await sync_to_async(log.warning)("sync")
        log.warning("after")

    with bound(thread_id="thread"):
        async_to_sync(run)()
    log.warning("outside")
    lines = [json.loads(each) for each in stream.getvalue().splitlines()]
    ids = [(each.get("thread_id"), each.get("turn_id"), each.get("run_id")) for each in lines]
    assert ids == [
        ("thread", "turn", "run"),
        ("thread", "turn", "run"),
        ("thread", None, None),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "token aa_0123456789abcdef0123 was refused",
        "Authorization: Bearer 0123456789abcdef",
        "authorization: basic MDEyMzQ1Njc4OWFiY2RlZg==0123456789abcdef",
        "postgres://agent:0123456789abcdef@db/agentadmin",
        "redis://:0123456789abcdef@cache:6379/0",
        "https://api.example/v1?api_key=0123456789abcdef&x=1",
        "Incorrect API key provided: sk-0123456789abcdef",
        "Cookie: csrftoken=0123456789abcdef; sessionid=0123456789abcdef",
        "connect(password=0123456789abcdef)",
        "the key is env-0123456789abcdef",
    ],
)
def test_no_secret_stands_in_a_line(
    text: str, log: logging.Logger, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "env-0123456789abcdef")
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("failed: %s", text)
    told = line()
    assert "0123456789abcdef" not in json.dumps(told)
    assert "[hidden]" in told["message"]
    assert "ValueError" in told["exception"]


def test_what_is_no_secret_stays(log: logging.Logger, line: Line) -> None:
    said = "Bearer of news, task-force, https://example.org/a@b, token of 3 words, aa_short"
    assert without_secrets(said) == said


def test_a_long_text_is_cut_and_odd_characters_are_written(
    log: logging.Logger, line: Line, stream: StringIO
) -> None:
    log.warning("\ud800 %s", "x" * 10_000)
    assert line()["message"].endswith("… (10002 characters)")
    stream.getvalue().encode()


def test_a_developers_line_is_read_at_a_glance() -> None:
    record = logging.LogRecord("a.b", logging.INFO, "", 0, "hello", (), None)
    with bound(run_id="r"):
        ContextFilter().filter(record)
    line = KeyValueLines().format(record)
    assert line.split(" ", 1)[1].startswith("INFO a.b hello ")
    assert "run_id=r" in line
