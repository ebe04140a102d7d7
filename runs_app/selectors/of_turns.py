"""Runs by their turns, and a run's turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs_app.models import Run, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions_app.models import AgentThread


def runs_of_turns(thread: AgentThread, turn_ids: Sequence[str]) -> list[Run]:
    """Every run of these turns, in the order they began."""
    return list(Run.objects.filter(thread=thread, turn_id__in=turn_ids).order_by("start_seq"))


def turn_of_run(run: Run) -> Turn | None:
    """The turn that a run works on; a direct call may have none."""
    if run.turn_id is None:
        return None
    return Turn.objects.filter(id=run.turn_id, thread_id=run.thread_id).first()
