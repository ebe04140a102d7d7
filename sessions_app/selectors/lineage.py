"""Where a session was forked from, and what was forked from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from sessions_app.models import AgentSession

MOST_FORKS = 50


def forks_of(session: AgentSession) -> list[AgentThread]:
    """The newest threads that began as copies of this session's.

    They have its namespace, user and agent: whoever sees the one sees the other.
    """
    forks = AgentThread.objects.filter(forked_from__session=session)
    return list(forks.select_related("session").order_by("-created_at", "-id")[:MOST_FORKS])


def origin_of(thread: AgentThread) -> AgentThread | None:
    """The thread that this one was forked from; None for one that was not."""
    if thread.forked_from_id is None:
        return None
    return AgentThread.objects.select_related("session").filter(id=thread.forked_from_id).first()
