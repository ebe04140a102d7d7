"""Changing a parked thread from a service: one edit commit inside the service's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync

from agentadmin.engine.journal.writer import JournalWriter
from sessions_app.journal.configured import HeldJournal, thread_journal
from sessions_app.journal.rows import thread_ref

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread


def edit_writer(thread: AgentThread, actor: Actor) -> JournalWriter:
    """A writer without a lease: its commit needs that no run holds the thread."""
    journal = HeldJournal(thread_journal())
    return async_to_sync(JournalWriter.open)(
        journal, thread_ref(thread), lease=None, actor=actor.name
    )
