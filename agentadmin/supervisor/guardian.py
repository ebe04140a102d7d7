"""The process that outlives a killed supervisor just long enough to end its children.

Standard library only: it starts in a few milliseconds and has nothing that can fail.
"""

import contextlib
import os
import signal
import sys
import time

GRACE = 2.0


def send(groups: set[int], number: int) -> set[int]:
    """Signal every group; those that still exist."""
    alive = set()
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
            alive.add(group)
    return alive


def end(groups: set[int]) -> None:
    """Ask, wait, insist."""
    deadline = time.monotonic() + GRACE
    alive = send(groups, signal.SIGTERM)
    # A stopped process answers no request to end.
    send(alive, signal.SIGCONT)
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = send(alive, 0)
    send(alive, signal.SIGKILL)


def main() -> None:
    """Follow the parent's list of groups until it closes the pipe or is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line[0] == "+" else groups.discard
        change(int(line[1:]))
    end(groups)


if __name__ == "__main__":
    main()
