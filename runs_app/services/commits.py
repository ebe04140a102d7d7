"""Commits that services make inside a transaction of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.engine.journal.base import Batch, CommitKind
from runs_app.stream import publish_facts
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import Committed
    from agentadmin.engine.journal.facts import NewFact


def locked(thread: AgentThread) -> AgentThread:
    """The thread as it stands, unchanging until the transaction ends.

    PostgreSQL locks the row; on SQLite the immediate transaction is the lock.
    """
    rows = AgentThread.objects.select_related("session").select_for_update(of=("self",))
    return rows.get(id=thread.id)


def append_facts(thread: AgentThread, *facts: NewFact) -> Committed:
    """A queue commit: no lease is needed and AgentState is not touched."""
    ref = thread_ref(thread)
    batch = Batch(CommitKind.QUEUE, [fact.seal() for fact in facts])
    committed = thread_journal().commit_now(ref, batch)
    transaction.on_commit(partial(publish_facts, ref, committed.facts))
    return committed
