"""Running a tool: every way to end is a result."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.interrupt import InterruptControl
from agentadmin.engine.errors import ToolError
from agentadmin.engine.messages import ImageBlock, TextBlock, ToolResultState, url_source
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.tools.context import ToolContext
from agentadmin.engine.tools.executor import NO_RESULT, ToolOutcome, execute
from agentadmin.engine.tools.toolkit import tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def surroundings(workspace: Path | None = None) -> ToolContext:
    return ToolContext(
        RuntimeContext.empty(), InterruptControl(), "c1", "t", workspace, lambda text: None
    )


async def outcome_of(function: Callable[..., Any], **options: Any) -> ToolOutcome:
    return await execute(tool(effect="none", **options)(function), {}, surroundings())


def text(outcome: ToolOutcome) -> str:
    return str(outcome.output[0].raw["text"])


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Odd(BaseException):
    """Derives from what nobody catches."""


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt(), GeneratorExit(), Odd("x")])
async def test_no_tool_ends_the_worker(error: BaseException) -> None:
    async def waits() -> str:
        raise error

    def blocks() -> str:
        raise error

    for function in (waits, blocks):
        ended = await outcome_of(function)
        assert ended.state == "error"
        assert text(ended).startswith("Error: Tool execution failed: ")


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        object(),
        deep(1001),
        ToolOutcome(ToolResultState.SUCCESS, (), {"odd": object()}),
        ToolOutcome(ToolResultState.SUCCESS, (), {"deep": deep(996)}),
        TextBlock({"type": "text", "text": "x", "when": object()}),
        [TextBlock({"type": "text", "text": "x", "deep": deep(996)})],
    ],
    ids=["set", "object", "deep", "metadata", "deep metadata", "block", "deep block"],
)
async def test_what_cannot_be_stored_is_the_tools_own_error(value: Any) -> None:
    async def function() -> Any:
        return value

    ended = await outcome_of(function)
    assert ended.state == "error"
    assert text(ended).startswith("Error: Tool execution failed: ")


@pytest.mark.parametrize(
    ("value", "state", "shown"),
    [
        ("fine", "success", "fine"),
        ({"a": 1}, "success", '{"a":1}'),
        ([1, 2], "success", "[1,2]"),
        ("", "success", ""),
        ("[ERROR] not so fine", "error", "[ERROR] not so fine"),
        (None, "error", NO_RESULT),
    ],
)
async def test_values_become_results(value: Any, state: str, shown: str) -> None:
    outcome = await outcome_of(lambda: value)
    assert (outcome.state, text(outcome)) == (state, shown)


async def test_blocks_are_kept_as_they_are() -> None:
    image = ImageBlock.make(url_source("https://example.com/a.png"))
    assert (await outcome_of(lambda: image)).output == (image,)


async def test_failures_are_results_with_their_message() -> None:
    def fails() -> str:
        raise ToolError("no such thing")

    async def breaks() -> str:
        raise KeyError

    assert text(await outcome_of(fails)) == "Error: Tool execution failed: no such thing"
    assert text(await outcome_of(breaks)) == "Error: Tool execution failed: KeyError"


async def test_memory_exhaustion_is_no_result() -> None:
    def greedy() -> str:
        raise MemoryError

    with pytest.raises(MemoryError):
        await outcome_of(greedy)


async def test_a_tool_that_takes_too_long_is_stopped() -> None:
    async def forever() -> str:
        await asyncio.Event().wait()
        return ""

    outcome = await outcome_of(forever, timeout=0.01)
    assert text(outcome) == "Error: Tool execution timeout after 0.01 s"


async def test_a_tools_own_timeout_error_is_not_taken_for_ours() -> None:
    async def gives_up() -> str:
        raise TimeoutError("the server is slow")

    assert text(await outcome_of(gives_up)) == "Error: Tool execution failed: the server is slow"


async def test_blocking_functions_run_in_a_thread_with_the_callers_context() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    here = threading.get_ident()

    def where() -> str:
        return f"{threading.get_ident() != here} {variable.get()}"

    assert text(await outcome_of(where)) == "True set"


async def test_outcomes_and_lists_of_blocks_pass_as_they_are() -> None:
    given = ToolOutcome.error("as it is")
    assert await outcome_of(lambda: given) is given
    blocks = [TextBlock.make("a"), TextBlock.make("b")]
    assert (await outcome_of(lambda: blocks)).output == tuple(blocks)


async def test_a_thread_that_ends_after_its_call_was_given_up_disturbs_nobody() -> None:
    release, ended = threading.Event(), threading.Event()

    def blocked() -> str:
        release.wait(5)
        ended.set()
        return "late"

    outcome = await outcome_of(blocked, timeout=0.01)
    release.set()
    await asyncio.to_thread(ended.wait, 5)
    await asyncio.sleep(0.01)
    assert "timeout" in text(outcome)
