"""The offline model, line by line of its table (contract §4)."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.errors import InvalidInput, ModelError
from agentadmin.engine.messages import (
    Msg,
    ToolResultBlock,
    assistant_message,
    system_message,
    tool_message,
    user_message,
)
from agentadmin.engine.models.base import (
    Chunk,
    ModelRequest,
    Purpose,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.models.registry import create, register
from agentadmin.engine.models.scripted import OfflineModel


async def chunks(*messages: Msg, **more: Any) -> list[Chunk]:
    request = ModelRequest(list(messages), **more)
    return [chunk async for chunk in OfflineModel().stream(request)]


async def text(*messages: Msg | str, **more: Any) -> str:
    given = [user_message(m) if isinstance(m, str) else m for m in messages]
    found = await chunks(*given, **more)
    return "".join(chunk.text for chunk in found if isinstance(chunk, TextChunk))


SYNTHETIC = user_message("a reminder", metadata={"agentscope_synthetic": True})
HISTORY = [
    system_message("You are kind."),
    user_message("first"),
    assistant_message("answer", name="a"),
    SYNTHETIC,
]


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        ("/echo some text", "some text"),
        ("/slow 3 1", "word-1 word-2 word-3"),
        ("/think well", "well"),
        ("/empty", ""),
        ("/big 12", "012345678901"),
        ("hello", "You said: hello"),
        ("/unknown x", "You said: /unknown x"),
        ("/tools nonsense", "You said: /tools nonsense"),
        ("", "You said: "),
    ],
)
async def test_replies(command: str, reply: str) -> None:
    assert await text(command) == reply


async def test_counting_and_recalling_ignore_system_and_synthetic_messages() -> None:
    assert await text(*HISTORY, "/count") == "3 messages"
    assert await text(*HISTORY, "/recall") == "first"
    assert await text(*HISTORY, user_message("hi"), SYNTHETIC) == "You said: hi"


async def test_thinking_comes_first() -> None:
    found = await chunks(user_message("/think well"))
    assert isinstance(found[0], ThinkingChunk)


async def test_tool_calls_have_the_names_and_arguments_given() -> None:
    one = await chunks(user_message('/tool sleep {"seconds": 1}'))
    assert [(c.name, c.arguments) for c in one if isinstance(c, ToolCallChunk)] == [
        ("sleep", '{"seconds": 1}')
    ]
    many = await chunks(user_message('/tools [{"name":"a","input":{"x":1}},{"name":"b"}]'))
    found = [c for c in many if isinstance(c, ToolCallChunk)]
    assert [(c.name, c.arguments) for c in found] == [("a", '{"x":1}'), ("b", "{}")]
    assert len({c.id for c in found}) == 2


def result(call_id: str, name: str, output: str) -> Msg:
    return tool_message(ToolResultBlock.make(id=call_id, name=name, output=output), name="a")


async def test_results_are_reported_one_line_each_and_cut_at_200_characters() -> None:
    messages = [user_message("/tools …"), result("1", "a", "x" * 300), result("2", "b", "y")]
    reply = await text(*messages)
    assert reply == f"a returned: {'x' * 200}\nb returned: y"
    cut_off = assistant_message("a ret", name="a")
    assert await text(*messages, cut_off) == reply


async def test_transient_failures_count_down_with_the_attempts() -> None:
    for attempt in (0, 1):
        with pytest.raises(ModelError) as caught:
            await text("/fail transient 2", attempt=attempt)
        assert caught.value.retryable
    assert await text("/fail transient 2", attempt=2) == "ok after 2 retries"
    with pytest.raises(ModelError) as caught:
        await text("/fail permanent")
    assert not caught.value.retryable


async def test_a_summary_is_made_when_the_purpose_says_so() -> None:
    assert await text(*HISTORY, purpose=Purpose.SUMMARY) == "Summary of 2 messages."


async def test_usage_is_characters_divided_by_four_rounded_up() -> None:
    found = await chunks(system_message("12345"), user_message("/echo abc"))
    assert found[-1] == UsageChunk(4, 1)


def test_models_are_found_by_name() -> None:
    assert create("offline:demo").name == "offline:demo"
    for name in ("offline:other", "nobody:x", ""):
        with pytest.raises(InvalidInput):
            create(name)
    register("test", "tests.engine.models.test_offline_model:named")
    assert create("test:x").name == "x"
    register("broken", "no.such:thing")
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        create("broken:x")


def named(name: str) -> OfflineModel:
    return OfflineModel(name)


def test_retries_wait_longer_and_longer_up_to_a_limit() -> None:
    policy = RetryPolicy(first=1, factor=2, longest=5)
    assert [policy.delay(attempt) for attempt in range(4)] == [1, 2, 4, 5]
