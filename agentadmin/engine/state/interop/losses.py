"""The collector of what a written document does not say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from agentadmin.engine.state.interop.written import Loss

_INDEX = re.compile(r"\[\d+\]")


class LossKind(StrEnum):
    """What became of the thing."""

    DROPPED = "dropped"
    """It is not in the document."""
    CHANGED = "changed"
    """It is there in another form, from which nobody gets it back."""
    IGNORED = "ignored"
    """It is there, but the system that reads the document does not heed it."""


@dataclass(slots=True)
class Losses:
    """What was lost, in the order in which it was met."""

    found: list[Loss] = field(default_factory=list)

    def dropped(self, path: str, why: str) -> None:
        self.found.append(Loss(path, LossKind.DROPPED, why))

    def changed(self, path: str, why: str) -> None:
        self.found.append(Loss(path, LossKind.CHANGED, why))

    def ignored(self, path: str, why: str) -> None:
        self.found.append(Loss(path, LossKind.IGNORED, why))

    def told(self, kept: tuple[str, ...] = ()) -> tuple[Loss, ...]:
        """One loss for each sort of thing, with how often; not what stands under a kept path."""
        sorts: dict[tuple[str, str, str], list[Loss]] = {}
        for loss in self.found:
            if not any(within(loss.path, place) for place in kept):
                sort = (_INDEX.sub("[]", loss.path), loss.kind, loss.why)
                sorts.setdefault(sort, []).append(loss)
        return tuple(_together(losses) for losses in sorts.values())


def within(path: str, place: str) -> bool:
    """Whether a path is a place, or leads into it."""
    return path == place or (path.startswith(place) and path[len(place)] in ".[")


def _together(losses: list[Loss]) -> Loss:
    first, times = losses[0], len(losses)
    return first if times == 1 else Loss(first.path, first.kind, f"{first.why} ({times} times)")
