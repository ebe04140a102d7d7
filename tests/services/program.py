"""Starts a server for the tests; it dies with the test process, however that dies."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from agentadmin.supervisor.lifeline import Lifeline

SECONDS = 30.0
_lifeline: Lifeline | None = None


def lifeline() -> Lifeline:
    """The one guardian of this test process."""
    global _lifeline  # noqa: PLW0603
    if _lifeline is None:
        _lifeline = Lifeline()
    return _lifeline


def close_lifeline() -> None:
    """End every server that is still there."""
    if _lifeline is not None:
        _lifeline.close()


class Program:
    """One server process in a group of its own, with a log file."""

    def __init__(
        self,
        command: list[str] | tuple[str, ...],
        log: Path,
        *,
        env: dict[str, str] | None = None,
        user: str | None = None,
        stop_signal: int = signal.SIGTERM,
    ) -> None:
        self.command = command
        self.log = log
        self._stop_signal = stop_signal
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                user=user,
                process_group=0,
            )
        lifeline().add(self.pid)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_for(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until it answers; its log is the message where it does not."""
        deadline = time.monotonic() + SECONDS
        while not ready():
            if not self.alive or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{what} did not start: {tail}")
            time.sleep(0.02)

    def signal(self, number: int) -> None:
        """Signal the whole group."""
        os.killpg(self.pid, number)

    def kill(self) -> None:
        """As if the machine had lost power."""
        self.signal(signal.SIGKILL)
        self.process.wait()
        lifeline().remove(self.pid)

    def freeze(self) -> None:
        """As if the machine had gone to sleep."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def stop(self, seconds: float = 8.0) -> None:
        """Ask it to end; insist after a while."""
        if self.process.returncode is not None:
            return
        self.process.send_signal(self._stop_signal)
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        self.process.wait()
        lifeline().remove(self.pid)
