"""The first commit of a thread that does not exist yet: rows, document and facts together.

What a long history takes to seal is done before the transaction opens, so that a file of many
megabytes keeps no other writer waiting for longer than its rows take to insert.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from django.db import transaction

from agentadmin.engine.journal.base import ThreadRef
from agentadmin.engine.journal.projection import ThreadProjection
from agentadmin.engine.journal.writer import JournalWriter
from sessions_app.journal.rows import thread_ref
from sessions_app.journal.store import DjangoThreadJournal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentadmin.engine.identity import ThreadKey
    from agentadmin.engine.journal.base import Batch, Committed, RowAction
    from agentadmin.engine.journal.facts import Fact, NewFact
    from sessions_app.models import AgentThread


class FoundingJournal(DjangoThreadJournal):
    """A journal for exactly one commit, which makes the thread that it writes to."""

    def __init__(self, outer: DjangoThreadJournal, found: Callable[[], AgentThread]) -> None:
        super().__init__(using=outer.using)
        self._outer = outer
        self._found = found
        self.thread: AgentThread | None = None

    def writer(self, key: ThreadKey, *, actor: str) -> JournalWriter:
        """A writer on the empty thread of this identity; its first flush makes it."""
        return JournalWriter(self, ThreadProjection(ThreadRef("", key)), lease=None, actor=actor)

    async def commit(
        self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()
    ) -> Committed:
        """Make the thread and write the batch to it, in one transaction; waits for nothing."""
        return self._commit(batch, rows)

    def write(
        self,
        writer: JournalWriter,
        facts: Sequence[NewFact],
        *,
        reason: str,
        rows: Sequence[RowAction],
    ) -> AgentThread:
        """Flush the writer here and now: the thread that its commit made.

        `async_to_sync` would run the flush on the web server's own event loop, and sealing a
        history of many megabytes there would keep every other request waiting.
        """
        flush = writer.flush(facts, reason=reason, rows=rows)
        try:
            flush.send(None)
        except StopIteration:
            if self.thread is not None:
                return self.thread
        raise RuntimeError("The first commit of a thread waits for nothing.")

    def _commit(self, batch: Batch, rows: Sequence[RowAction]) -> Committed:
        with transaction.atomic(using=self.using):
            self.thread = self._found()
            ref = thread_ref(self.thread)
            committed = self._outer.commit_now(ref, batch, rows)
            # Nobody watches what did not exist: the lists need one hint, and no fact but the last.
            transaction.on_commit(partial(self._tell, ref, committed.facts[-1:]), using=self.using)
        return committed

    def _tell(self, ref: ThreadRef, facts: Sequence[Fact]) -> None:
        async_to_sync(self._outer.publish)(ref, facts)
