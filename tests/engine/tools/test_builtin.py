"""The tools that come with the engine: their limits and their confinement."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentadmin.engine.agents.interrupt import InterruptControl
from agentadmin.engine.errors import ToolError
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.tools.builtin import (
    OrderBook,
    ask_user,
    create_order,
    current_time,
    list_files,
    read_file,
    sleep,
    write_file,
)
from agentadmin.engine.tools.builtin.calculator import evaluate
from agentadmin.engine.tools.context import ToolContext
from agentadmin.engine.tools.executor import ToolOutcome, execute

if TYPE_CHECKING:
    from pathlib import Path

    from agentadmin.engine.tools.toolkit import Tool


def surroundings(workspace: Path | None = None) -> ToolContext:
    return ToolContext(
        RuntimeContext.empty(), InterruptControl(), "c1", "t", workspace, lambda text: None
    )


async def run(tool: Tool, workspace: Path | None = None, **arguments: Any) -> str:
    return text(await execute(tool, arguments, surroundings(workspace)))


def text(outcome: ToolOutcome) -> str:
    return str(outcome.output[0].raw["text"])


@pytest.mark.parametrize(
    ("expression", "value"),
    [("6*7", 42), ("-2 ** 2", -4), ("7 // 2 + 7 % 2", 4), ("1/4", 0.25), (" (1+2)*3 ", 9)],
)
def test_arithmetic_is_computed(expression: str, value: float) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "2**100000",
        "(1.5)**1e9",
        "10**400*10**400*10**400*10**400",
        "1/0",
        "__import__('os')",
        "a+1",
        "[1]*9",
        "'a'*9",
        "1 if 1 else 2",
        "True",
        "1<2",
        "(-8)**0.5",
        "((((",
        "",
        "1" * 600,
        "~1",
        "1<<9999",
        "1@2",
    ],
)
def test_everything_else_is_refused(expression: str) -> None:
    with pytest.raises(ToolError):
        evaluate(expression)


@given(st.text(alphabet="0123456789+-*/%(). e", max_size=40))
def test_no_expression_does_anything_but_compute_or_refuse(expression: str) -> None:
    try:
        value = evaluate(expression)
    except ToolError:
        return
    assert isinstance(value, int | float)


async def test_the_time_is_told_in_any_zone() -> None:
    assert (await run(current_time)).endswith("+00:00")
    assert (await run(current_time, zone="Asia/Tokyo")).endswith("+09:00")
    assert "no time zone" in await run(current_time, zone="../../etc/passwd")


async def test_files_are_written_read_and_listed(tmp_path: Path) -> None:
    assert await run(write_file, tmp_path, path="a/b.txt", text="héllo") == (
        "wrote 6 bytes to a/b.txt"
    )
    assert await run(read_file, tmp_path, path="a/b.txt") == "héllo"
    assert await run(list_files, tmp_path) == "a/"
    assert await run(list_files, tmp_path, path="a", pattern="*.txt") == "b.txt"
    assert await run(list_files, tmp_path, path="a", pattern="*.md") == "(empty)"
    assert "No such file" in await run(read_file, tmp_path, path="missing")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x", "link"])
async def test_no_path_leaves_the_workspace(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (tmp_path / "x").write_text("secret")
    (workspace / "link").symlink_to(tmp_path)
    for tool, more in ((read_file, {}), (write_file, {"text": "no"}), (list_files, {})):
        assert "lies outside of the workspace" in await run(tool, workspace, path=path, **more)
    assert (tmp_path / "x").read_text() == "secret"


async def test_a_pattern_stays_inside_its_folder(tmp_path: Path) -> None:
    for pattern in ("../*", "/etc/*"):
        assert "stays inside" in await run(list_files, tmp_path, pattern=pattern)


async def test_an_agent_without_a_workspace_has_no_files() -> None:
    assert "no workspace" in await run(read_file, None, path="a")


async def test_a_sleep_reports_and_ends_at_once_when_interrupted() -> None:
    context = surroundings()
    task = asyncio.create_task(execute(sleep, {"seconds": 300}, context))
    await asyncio.sleep(0)
    context.control.trigger()
    outcome = await asyncio.wait_for(task, 5)
    assert outcome.state == "error"
    assert "interrupted after" in text(outcome)


class Book:
    async def record_order(self, context: ToolContext, sku: str, quantity: int) -> str:
        return f"A-{quantity}"


async def test_an_order_goes_to_the_connected_system_or_fails() -> None:
    assert "no order system" in await run(create_order, sku="tea")
    context = surroundings()
    context.runtime.put(OrderBook, Book())
    outcome = await execute(create_order, {"sku": "tea", "quantity": 2}, context)
    assert text(outcome) == "order A-2: 2 x tea"


async def test_wrong_paths_sizes_and_patterns_are_refused_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentadmin.engine.tools.builtin.files.MAX_BYTES", 3)
    monkeypatch.setattr("agentadmin.engine.tools.builtin.files.MAX_ENTRIES", 1)
    assert "NUL" in await run(read_file, tmp_path, path="a\0b")
    assert "at most 3 bytes" in await run(write_file, tmp_path, path="a", text="1234")
    (tmp_path / "big").write_text("1234")
    assert "more than 3 bytes" in await run(read_file, tmp_path, path="big")
    assert "Is a directory" in await run(write_file, tmp_path, path=".", text="x")
    assert "is no folder" in await run(list_files, tmp_path, path="big")
    assert "list_files" not in await run(list_files, tmp_path, pattern="**x")
    (tmp_path / "other").write_text("")
    assert await run(list_files, tmp_path) == "big\n… and 1 more"


async def test_a_question_is_never_answered_by_the_process() -> None:
    assert "a person answers this" in await run(ask_user, question="why?")


def test_a_context_knows_whether_its_run_is_being_stopped() -> None:
    context = surroundings()
    assert not context.interrupted
    context.control.trigger()
    assert context.interrupted
