"""A run that holds a thread, played by the test: it claims, works, and applies what came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync

from agentadmin.engine.journal.base import Lease, Release
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.journal.writer import JournalWriter
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.mailbox import open_controls
from sessions_app.services.pending_edits import apply_edits_between_steps, apply_pending_edits

if TYPE_CHECKING:
    from sessions_app.models import AgentThread

RUN = "run-1"


class Held:
    """A thread under a live lease, with the run's own writer."""

    def __init__(self, thread: AgentThread, seconds: float = 60.0) -> None:
        self.thread = thread
        self.ref = thread_ref(thread)
        self.lease: Lease = async_to_sync(thread_journal().claim)(self.ref, "worker", seconds)
        type(thread).objects.filter(id=thread.id).update(active_run_id=RUN)
        self.writer: JournalWriter = async_to_sync(self._open)()

    async def _open(self) -> JournalWriter:
        writer = await JournalWriter.open(
            thread_journal(), self.ref, lease=self.lease, actor="worker"
        )
        writer.turn_id, writer.run_id = "turn-1", RUN
        start = writer.fact(FactType.TURN_START, {"request_id": None, "input": [], "by": None})
        await writer.flush([start], reason="turn")
        return writer

    def between_steps(self) -> None:
        """A safe point in the middle of the turn."""
        async_to_sync(apply_edits_between_steps)(self.writer, open_controls([self.thread.id]))

    def at_the_end(self) -> None:
        """The safe point before the lease is given back."""
        async_to_sync(apply_pending_edits)(self.writer, open_controls([self.thread.id]))

    def end(self) -> bool:
        """The turn's end; whether the lease was given back."""
        done = self.writer.fact(FactType.TURN_COMPLETED, {"outcome": "done", "reply": None})
        committed = async_to_sync(self.writer.flush)([done], reason="turn", release=Release.IF_IDLE)
        return committed is not None and committed.released
