"""Turns that cannot be run: unreadable state, undefined agent, too many dead workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.journal.base import Batch, CommitKind, Release
from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.admitting import MOST_LOST_RUNS
from runs_app.states import Outcome, RunStatus, WaitKind
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref

if TYPE_CHECKING:
    from agentadmin.engine.journal.writer import JournalWriter
    from runs_app.admitting import Head
    from runs_app.models import Turn


def _lost(head: Head, turn: Turn) -> list[NewFact]:
    """The end of the run that a dead worker has left open."""
    if head.lost_run is None:
        return []
    payload = {"status": RunStatus.LOST, "reason": "its worker is gone", "usage": {}}
    return [NewFact(FactType.RUN_END, payload, turn.id, head.lost_run)]


def _failed(turn: Turn, outcome: Outcome, code: str, detail: str) -> NewFact:
    payload: dict[str, Any] = {"outcome": outcome, "error": {"code": code, "detail": detail}}
    return NewFact(FactType.TURN_FAILED, payload, turn.id)


@transaction.atomic
def record_failure(head: Head, turn: Turn, error: Exception) -> None:
    """Fail a turn whose thread cannot even be read; only facts are written, never a state."""
    if isinstance(error, AgentAdminError):
        failed = _failed(turn, Outcome.ERROR, error.code, str(error))
    else:
        failed = _failed(turn, Outcome.ERROR, "error", f"{type(error).__name__}: {error}")
    facts = [*_lost(head, turn), failed]
    batch = Batch(CommitKind.QUEUE, [fact.seal() for fact in facts])
    thread_journal().commit_now(thread_ref(head.thread), batch)


async def park_undefined(writer: JournalWriter, head: Head, turn: Turn) -> None:
    """The turn waits until its agent is defined here."""
    wait = {"kind": WaitKind.DEFINITION, "ids": [head.thread.agent_id]}
    suspended = NewFact(FactType.TURN_SUSPENDED, {"wait": wait}, turn.id)
    await writer.flush([*_lost(head, turn), suspended], reason="wait definition")


async def record_poison(writer: JournalWriter, head: Head, turn: Turn) -> None:
    """Give the turn up before it takes another worker down."""
    detail = f"Its worker died {MOST_LOST_RUNS} times."
    failed = _failed(turn, Outcome.POISON, "poison", detail)
    await writer.flush([*_lost(head, turn), failed], reason="turn poison", release=Release.NEVER)
