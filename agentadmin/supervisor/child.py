"""One child process: its program, its log file, and how it is started and ended."""

import contextlib
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from agentadmin.supervisor.lifeline import Lifeline, die_with_parent

TROUBLE = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")
ROTATE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """What to run."""

    name: str
    command: tuple[str, ...]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    # The lines of the log that are repeated on the terminal.
    trouble: re.Pattern[str] = TROUBLE


class Child:
    """A running program, in a process group of its own."""

    def __init__(self, spec: Spec, lifeline: Lifeline) -> None:
        self.spec = spec
        self._lifeline = lifeline
        self.started = time.monotonic()
        rotate(spec.log)
        with spec.log.open("ab") as log:
            self.process = subprocess.Popen(
                spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **spec.environment},
                process_group=0,
                # The supervisor has one thread, so nothing can be held across this fork.
                preexec_fn=die_with_parent,  # noqa: PLW1509
            )
        lifeline.add(self.pid)

    @property
    def pid(self) -> int:
        """The process id, which is its group's number too."""
        return self.process.pid

    def ended(self) -> int | None:
        """The exit code once the program is gone; negative for a signal."""
        return self.process.poll()

    def send(self, number: int) -> None:
        """Signal the program itself; it tells its own children."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Whether the program ended in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds))
        return self.process.returncode is not None

    def bury(self) -> None:
        """End whatever is left of the group and forget it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self._lifeline.remove(self.pid)


def rotate(log: Path) -> None:
    """Keep one older file of a log that has grown large."""
    if log.is_file() and log.stat().st_size > ROTATE_BYTES:
        log.replace(log.with_suffix(".log.1"))


def stop(children: list[Child], seconds: float) -> None:
    """End several programs together: ask all, wait for all, then insist."""
    deadline = time.monotonic() + seconds
    for child in children:
        child.send(signal.SIGTERM)
        child.send(signal.SIGCONT)
    for child in children:
        child.wait(deadline - time.monotonic())
    for child in children:
        child.bury()


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with code {code}"
