"""Threads: one of them, its state at a version, its versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async

from agentadmin.access.actor import READ
from agentadmin.engine.errors import NotFound
from agentadmin.engine.identity import MAIN_THREAD
from agentadmin.engine.journal.loading import forward, load
from agentadmin.engine.journal.projection import ThreadProjection
from sessions_app.journal.configured import agent_permissions, thread_journal
from sessions_app.journal.entering import entered
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread, StateSnapshot
from sessions_app.policies import require_thread
from sessions_app.selectors.paging import row_id
from sessions_app.selectors.sessions import session_threads

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.base import ThreadRef
    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.models import AgentSession


@dataclass(frozen=True, slots=True)
class StateAt:
    """A committed state, as of which seq and when; version 0 is a thread that never ran."""

    version: int
    seq: int
    as_of: datetime
    state: AgentState


def thread_detail(actor: Actor, thread_id: object, permission: str = READ) -> AgentThread:
    """A thread on which the actor holds the permission; one that is not seen is not found."""
    threads = AgentThread.objects.select_related("session")
    thread = threads.filter(id=row_id(thread_id)).first()
    if thread is None:
        raise NotFound
    require_thread(actor, permission, thread)
    return thread


def thread_of_session(session: AgentSession, thread_id: str | None) -> AgentThread:
    """The thread that a session-level call means: the named one, the only one, else `main`."""
    threads = session_threads(session)
    if thread_id is not None:
        wanted = row_id(thread_id)
        threads = [thread for thread in threads if thread.id == wanted]
    elif len(threads) > 1:
        threads = [thread for thread in threads if thread.thread_id == MAIN_THREAD]
    if not threads:
        raise NotFound("This session has no such thread.")
    return threads[0]


def state_at(thread: AgentThread, version: int | None = None) -> StateAt:
    """The state at a version, or the newest committed one; detached, so that reading is reading."""
    if version is not None and version > thread.version:
        # No database is asked for a number that its columns may not even hold.
        raise NotFound(f"This thread has no version {version}.")
    ref = thread_ref(thread)
    first = ThreadProjection(ref)
    projection = first if version == 0 else entered(load)(thread_journal(), ref, version)
    if projection.version == 0:
        return StateAt(0, 0, thread.created_at, initial_state(first, thread))
    return _of(thread, projection)


def states_at(thread: AgentThread, first: int, second: int) -> tuple[StateAt, StateAt]:
    """Two versions of one thread; the messages that both hold are read once."""
    if not 0 < first < second <= thread.version:
        return state_at(thread, first), state_at(thread, second)
    return entered(_both)(thread, thread_ref(thread), first, second)


async def _both(
    thread: AgentThread, ref: ThreadRef, first: int, second: int
) -> tuple[StateAt, StateAt]:
    journal = thread_journal()
    projection = await load(journal, ref, first)
    found = await sync_to_async(_of)(thread, projection)
    return found, await sync_to_async(_of)(thread, await forward(journal, projection, second))


def _of(thread: AgentThread, projection: ThreadProjection) -> StateAt:
    row = StateSnapshot.objects.only("created_at").get(
        thread_id=thread.id, version=projection.version
    )
    return StateAt(projection.version, projection.seq, row.created_at, projection.state())


def initial_state(projection: ThreadProjection, thread: AgentThread) -> AgentState:
    """What a thread begins with: no message, and what its agent may do."""
    state = projection.state()
    state.permission_context = agent_permissions(thread.agent_id)
    return state
