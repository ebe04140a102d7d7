"""`execute`: a shell command in the thread's workspace, in a process group of its own.

The command sees the workspace as its folder and home, and none of the server's environment. It is
no sandbox: what may run is the permission gate's business.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.builtin.files import confined
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentadmin.engine.tools.context import ToolContext

DEFAULT_SECONDS = 60.0
MAX_SECONDS = 600
MAX_OUTPUT = 100_000
GRACE = 2.0
"""Seconds between asking a group to end and killing it."""
_PASSED = ("PATH", "LANG", "LC_ALL", "TZ")
_CHUNK = 8192
_LAST_READS = 64
"""Enough for all that a pipe holds; who still writes then has left the group."""


@dataclass(slots=True)
class _Output:
    """Head and tail of what a command writes; what lies between is counted and dropped."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    def feed(self, data: bytes) -> None:
        half = MAX_OUTPUT // 2
        self.total += len(data)
        room = half - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[max(room, 0) :])[-half:]

    @property
    def text(self) -> str:
        dropped = self.total - len(self.head) - len(self.tail)
        middle = f"\n… {dropped} bytes left out …\n" if dropped else ""
        parts = (bytes(self.head), bytes(self.tail))
        head, tail = (part.decode("utf-8", errors="replace") for part in parts)
        return f"{head}{middle}{tail}".strip("\n")


@tool(effect=Effect.EXTERNAL, matcher="command", timeout=MAX_SECONDS + 30.0)
async def execute(
    command: Annotated[str, "What /bin/sh is to run", {"minLength": 1, "maxLength": 20_000}],
    context: ToolContext,
    timeout: Annotated[
        float, "Seconds after which it is stopped", {"exclusiveMinimum": 0, "maximum": MAX_SECONDS}
    ] = DEFAULT_SECONDS,
) -> str:
    """Run a shell command in the workspace."""
    folder = confined(context, ".")
    if "\0" in command:
        raise ToolError("a command must not hold NUL")
    output = _Output()
    with _pipe(output) as end:
        process = await _started(command, folder, end)
        os.close(end)
        try:
            how = await _ended(process, context, timeout)
        finally:
            # Also what the command left running in the background, and when nobody waits.
            await asyncio.shield(_stop(process))
    code = process.returncode
    told = output.text or "(no output)"
    if how:
        return f"[ERROR] {how}\n{told}"
    return told if code == 0 else f"[ERROR] exit code {code}\n{told}"


@contextlib.contextmanager
def _pipe(output: _Output) -> Iterator[int]:
    """The end that a command writes to; whoever inherits it, nobody waits for them to let go.

    asyncio's own pipes keep a process from counting as ended while a child in the background
    holds them.
    """
    loop = asyncio.get_running_loop()
    here, there = os.pipe()
    os.set_blocking(here, False)

    def read() -> bool:
        """Take what is there; False when nothing is, or nothing will be."""
        try:
            data = os.read(here, _CHUNK)
        except BlockingIOError:
            return False
        output.feed(data)
        if not data:
            loop.remove_reader(here)
        return bool(data)

    loop.add_reader(here, read)
    try:
        yield there
        for _ in range(_LAST_READS):
            if not read():
                break
    finally:
        loop.remove_reader(here)
        os.close(here)


async def _started(command: str, folder: Path, end: int) -> asyncio.subprocess.Process:
    known = {name: os.environ[name] for name in _PASSED if name in os.environ}
    try:
        return await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=folder,
            env={"PATH": os.defpath, **known, "HOME": str(folder), "TERM": "dumb"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=end,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        os.close(end)
        raise


async def _ended(process: asyncio.subprocess.Process, context: ToolContext, seconds: float) -> str:
    """Until the command ends, its time is over, or the run is stopped; why, where it was cut."""
    done = asyncio.create_task(process.wait())
    stop = asyncio.create_task(context.control.wait())
    try:
        await asyncio.wait({done, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        done.cancel()
    if process.returncode is not None:
        return ""
    return "interrupted" if context.interrupted else f"stopped after {seconds:g} s"


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the whole group; a child that made a group of its own is let go."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
