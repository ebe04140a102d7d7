"""What is to be done next on a held thread, decided from its rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from agentadmin.engine.agents.admission import Admission, Kind
from agentadmin.engine.identity import new_id
from agentadmin.engine.messages import Msg
from agentadmin.engine.state import codec
from runs_app.models import Run, Turn
from runs_app.states import GOING, RunStatus, TurnState, WaitKind
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from agentadmin.engine.journal.projection import ThreadProjection

MOST_LOST_RUNS = 5
"""A turn whose worker died this often would only take the next one down as well."""


class Work(StrEnum):
    """What the head of a thread's queue asks of its worker."""

    NOTHING = "nothing"
    PARKED = "parked"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Head:
    """A thread's rows as the executor reads them."""

    thread: AgentThread
    turn: Turn | None
    lost_run: str | None
    lost_runs: int
    was_paused: bool = False

    @property
    def inputs(self) -> list[int]:
        """Where the head turn's input stands, and what it was told since."""
        if self.turn is None:
            return []
        return [self.turn.start_seq, *codec.loads(self.turn.steering)]

    @property
    def work(self) -> Work:
        """What to do now."""
        if self.turn is None:
            return Work.NOTHING
        return Work.RUN if self.thread.runnable_since is not None else Work.PARKED

    @property
    def is_under_way(self) -> bool:
        """Whether the head turn was begun and goes on now, with calls perhaps open."""
        return (
            self.turn is not None and self.work is Work.RUN and self.turn.state != TurnState.QUEUED
        )

    @property
    def is_poison(self) -> bool:
        """Whether too many workers have died on this turn."""
        return self.lost_runs >= MOST_LOST_RUNS

    def admission(
        self, turn: Turn, projection: ThreadProjection, worker: str, agent: dict[str, str | int]
    ) -> Admission:
        """One more run of the head turn."""
        start = projection.inputs.get(turn.start_seq)
        return Admission(
            turn.id,
            kind=self._kind(turn),
            start_seq=turn.start_seq,
            input=[Msg(raw) for raw in start.payload["input"]] if start else [],
            run_id=new_id(),
            attempt=turn.attempts + 1,
            lost_run=self.lost_run,
            worker=worker,
            agent=agent,
        )

    def _kind(self, turn: Turn) -> Kind:
        if turn.state == TurnState.QUEUED:
            return "new"
        if self.was_paused:
            return "resume"
        if turn.state in GOING or turn.wait_kind == WaitKind.DEFINITION:
            # One that waited for its definition may never have begun: its input is still to take.
            return "takeover"
        return "resume"


def read_head(thread_id: str) -> Head:
    """The thread, its head turn, and the runs that were lost on it."""
    thread = AgentThread.objects.select_related("session").get(id=thread_id)
    turn = None
    if thread.active_turn_id is not None:
        turn = Turn.objects.filter(id=thread.active_turn_id).first()
    if turn is None or turn.state == TurnState.QUEUED:
        return Head(thread, turn, None, 0)
    lost = thread.active_run_id
    if lost is None:
        return Head(thread, turn, None, 0, _was_paused(turn))
    runs = Run.objects.filter(thread_id=thread.id, turn_id=turn.id, status=RunStatus.LOST)
    return Head(thread, turn, lost, runs.count() + 1)


def _was_paused(turn: Turn) -> bool:
    """A turn that runs without a run goes on after a pause, or after a worker's shutdown."""
    if turn.state not in GOING:
        return False
    runs = Run.objects.filter(thread_id=turn.thread_id, turn_id=turn.id).order_by("-start_seq")
    last = runs.values_list("reason", flat=True).first()
    return last is not None and last != "shutdown"
