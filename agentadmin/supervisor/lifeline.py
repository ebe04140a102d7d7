"""Children die with their parent, however the parent dies.

Two means, since neither is enough: on Linux the kernel signals a child whose parent is gone, but
not that child's own children; and a guardian process, which holds the reading end of a pipe from
the parent, ends every process group that the parent told it of when that pipe closes.
"""

import ctypes
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import IO

from agentadmin.supervisor import guardian

PR_SET_PDEATHSIG = 1


def _prctl() -> Callable[[int, int], int] | None:
    if sys.platform != "linux":
        return None
    function: Callable[[int, int], int] = ctypes.CDLL(None, use_errno=True).prctl
    return function


# Looked up here: between fork and exec a child must not import or allocate more than it has to.
_set = _prctl()


def die_with_parent() -> None:
    """Run in a child before it becomes its program: ask for SIGTERM when the parent is gone."""
    if _set is not None:
        _set(PR_SET_PDEATHSIG, int(signal.SIGTERM))


class Lifeline:
    """The parent's end of the pipe to the guardian."""

    def __init__(self, lock_fd: int | None = None) -> None:
        """Start the guardian; it keeps the lock, if given, until the last child is gone."""
        keep = () if lock_fd is None else (lock_fd,)
        self.process = subprocess.Popen(
            # By its file and isolated: it needs neither our folder nor our environment.
            [sys.executable, "-I", guardian.__file__],
            stdin=subprocess.PIPE,
            pass_fds=keep,
            # Ctrl-C in the terminal reaches the parent's group only.
            process_group=0,
        )

    def add(self, group: int) -> None:
        """Tell the guardian of a new process group."""
        self._say(f"+{group}")

    def remove(self, group: int) -> None:
        """The group has ended and was reaped; its number may soon be another's."""
        self._say(f"-{group}")

    def close(self) -> None:
        """Let the guardian go; whatever it still knows of is ended."""
        pipe = self._pipe()
        if not pipe.closed:
            pipe.close()
        self.process.wait(timeout=10)

    def _pipe(self) -> IO[bytes]:
        assert self.process.stdin is not None  # noqa: S101 - opened as a pipe above
        return self.process.stdin

    def _say(self, line: str) -> None:
        pipe = self._pipe()
        pipe.write(line.encode() + b"\n")
        pipe.flush()
