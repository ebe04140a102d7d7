"""Whether a thread stands still: what copies it whole must not cut through a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.errors import Conflict, InteractionPending, NeedsReconcile, ThreadBusy
from agentadmin.engine.journal.loading import load
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.entering import entered
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread
from sessions_app.selectors.threads import initial_state
from sessions_app.states import ThreadStatus

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import Head, ThreadRef
    from agentadmin.engine.journal.projection import ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState


def require_settled(thread: AgentThread) -> AgentState:
    """The newest state, or the conflict that says what the thread is in the middle of."""
    head, projection = entered(_read)(thread_ref(thread))
    if projection.uncertain:
        raise NeedsReconcile(projection.uncertain)
    if projection.pending:
        raise InteractionPending(question.id for question in projection.pending)
    now = AgentThread.objects.only("status", "active_run_id").get(id=thread.id)
    if head.live or now.status == ThreadStatus.RUNNING:
        raise ThreadBusy(now.active_run_id)
    if now.status in (ThreadStatus.PAUSED, ThreadStatus.WAITING):
        raise Conflict(f"A turn of this thread is {now.status}: let it end, or cancel it first.")
    return projection.state() if projection.version else initial_state(projection, thread)


async def _read(ref: ThreadRef) -> tuple[Head, ThreadProjection]:
    journal = thread_journal()
    return await journal.head(ref), await load(journal, ref)
