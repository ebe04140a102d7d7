"""The rows that facts move, and the moves that several facts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentadmin.engine.errors import Conflict, NotFound, TurnFinished, TurnPaused
from agentadmin.engine.journal.facts import FactType
from runs_app.states import ANSWERABLE, TERMINAL, WAITS, TurnState, in_queue, next_state

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.journal.facts import Fact
    from runs_app.rows import InteractionRow, RunRow, ThreadRow, TurnRow


class Book(Protocol):
    """The rows of one thread, as far as a batch of facts asks for them."""

    thread: ThreadRow

    def turn(self, id_: str) -> TurnRow | None:
        """The turn."""

    def run(self, id_: str) -> RunRow | None:
        """The run."""

    def interaction(self, id_: str) -> InteractionRow | None:
        """The interaction."""

    def next_in_line(self, after: int) -> TurnRow | None:
        """The oldest turn behind a place that still has to begin, paused or not."""

    def add_turn(self, row: TurnRow) -> None:
        """Keep a new turn."""

    def add_run(self, row: RunRow) -> None:
        """Keep a new run."""

    def add_interaction(self, row: InteractionRow) -> None:
        """Keep a new interaction."""


def move(book: Book, fact: Fact, event: str) -> TurnRow | None:
    """Move the fact's turn along the table; None when the fact belongs to no turn."""
    if fact.turn_id is None:
        return None
    turn = book.turn(fact.turn_id)
    if turn is None:
        raise NotFound(f"There is no turn {fact.turn_id}.")
    state = TurnState(turn.state)
    after = next_state(state, event)
    if after is None:
        if state in TERMINAL:
            raise TurnFinished(f"Turn {turn.id} has ended: {state}.")
        if state is TurnState.PAUSED and event == FactType.RUN_START:
            raise TurnPaused()
        raise Conflict(f"A turn that is {state} cannot take {event}.")
    queued = _in_queue(turn)
    if after is not state:
        turn.state = after
        turn.revision += 1
    if after not in WAITS:
        turn.wait_kind, turn.wait_ids = None, "[]"
    book.thread.queued_turns += _in_queue(turn) - queued
    return turn


def _in_queue(turn: TurnRow) -> bool:
    return in_queue(turn.state, turn.wait_kind, has_started=turn.started_at is not None)


def wake_when_answered(book: Book, turn: TurnRow, at: datetime) -> None:
    """Only the head turn asks, so the thread's open questions are this turn's."""
    answered = book.thread.pending_interactions == 0
    if turn.state == TurnState.WAITING and turn.wait_kind in ANSWERABLE and answered:
        book.thread.runnable_since = at
