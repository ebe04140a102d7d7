"""The rows at the head of recently written threads, so that a commit need not read them back."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

THREADS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Kept:
    """The values of a thread, its head turn and its active run, as of a seq."""

    seq: int
    thread: tuple[Any, ...]
    turn: tuple[Any, ...] | None
    run: tuple[Any, ...] | None


class Heads:
    """What the last commit of this process left behind, by thread.

    Every change of these rows is a commit that takes seqs. So what was kept as of a seq is true for
    exactly the commit that takes the next one; whoever comes after somebody else reads.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def take(self, thread_id: str, seq: int) -> Kept | None:
        """What was kept as of this very seq; it is put back only when the commit is through."""
        with self._lock:
            kept = self._kept.pop(thread_id, None)
        return kept if kept is not None and kept.seq == seq else None

    def put(self, thread_id: str, kept: Kept) -> None:
        """Keep the rows of a committed transaction."""
        with self._lock:
            self._kept[thread_id] = kept
            self._kept.move_to_end(thread_id)
            while len(self._kept) > THREADS_KEPT:
                self._kept.popitem(last=False)
