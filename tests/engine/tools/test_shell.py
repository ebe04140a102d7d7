"""`execute`: in the workspace, without the server's secrets, ended as a group."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.agents.interrupt import InterruptControl
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.tools import builtin
from agentadmin.engine.tools.context import ToolContext
from agentadmin.engine.tools.executor import execute
from tests.engine.tools.test_builtin import run, text

if TYPE_CHECKING:
    from pathlib import Path

EXECUTE = builtin.execute


async def test_a_command_runs_in_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    told = await run(EXECUTE, tmp_path, command="pwd; echo $HOME; echo x > f; env; cat")
    assert told.splitlines()[:2] == [str(tmp_path), str(tmp_path)]
    assert "hidden" not in told
    assert (tmp_path / "f").read_text() == "x\n"
    assert await run(EXECUTE, tmp_path, command="true") == "(no output)"


async def test_a_failure_says_its_code_and_both_streams(tmp_path: Path) -> None:
    told = await run(EXECUTE, tmp_path, command="echo out; echo err >&2; exit 3")
    assert told == "[ERROR] exit code 3\nout\nerr"
    assert "NUL" in await run(EXECUTE, tmp_path, command="a\0b")
    assert "no workspace" in await run(EXECUTE, None, command="true")


async def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    told = await run(EXECUTE, tmp_path, command="echo first; yes | head -c 500000; echo last")
    assert told.startswith("first\n")
    assert told.endswith("last")
    assert "bytes left out" in told
    assert len(told) < 110_000


async def test_a_command_that_takes_too_long_is_stopped_with_its_children(tmp_path: Path) -> None:
    command = "sleep 60 & echo $! > child; echo begun; wait"
    told = await run(EXECUTE, tmp_path, command=command, timeout=0.3)
    assert told == "[ERROR] stopped after 0.3 s\nbegun"
    await gone(int((tmp_path / "child").read_text()))


async def test_nothing_stays_behind_in_the_background(tmp_path: Path) -> None:
    told = await run(EXECUTE, tmp_path, command="sleep 60 & echo $! > child; echo done")
    assert told == "done"
    await gone(int((tmp_path / "child").read_text()))


async def test_an_interrupt_ends_the_group_and_says_so(tmp_path: Path) -> None:
    control = InterruptControl()
    context = ToolContext(
        RuntimeContext.empty(), control, "c1", "execute", tmp_path, lambda _: None
    )
    command = "trap '' TERM; echo $$ > child; sleep 60"
    task = asyncio.create_task(execute(EXECUTE, {"command": command}, context))
    await begun(tmp_path / "child")
    control.trigger()
    outcome = await task
    assert text(outcome).startswith("[ERROR] interrupted")
    await gone(int((tmp_path / "child").read_text()))


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    context = ToolContext(
        RuntimeContext.empty(), InterruptControl(), "c1", "execute", tmp_path, lambda _: None
    )
    command = {"command": "echo $$ > child; sleep 60"}
    task = asyncio.create_task(execute(EXECUTE, command, context))
    await begun(tmp_path / "child")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(int((tmp_path / "child").read_text()))


async def begun(file: Path) -> None:
    """Until a command has told its process."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if file.exists() and file.read_text():  # noqa: ASYNC240
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the command has not begun")


async def gone(pid: int) -> None:
    """Until a process has ended; a zombie that somebody else has to collect counts as ended."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123, ASYNC230
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except (ProcessLookupError, FileNotFoundError):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"process {pid} is still there")
