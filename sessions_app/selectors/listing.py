"""The sessions list of the pages: rows with their threads' numbers, and counts by status."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import EmptyResultSet
from django.db import connection

from sessions_app.journal.configured import agent_window
from sessions_app.models import AgentSession, AgentThread
from sessions_app.policies import visible_sessions
from sessions_app.selectors.paging import Page
from sessions_app.selectors.sessions import SessionFilters, session_page
from sessions_app.states import ThreadStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.access.actor import Actor

COUNTED = 10_000
"""Up to here sessions are counted: nobody reads further, and a list must not wait for it."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session with what its threads add up to."""

    session: AgentSession
    threads: Sequence[AgentThread]

    @property
    def thread_ids(self) -> str:
        """For the live hints, which name threads."""
        return " ".join(str(thread.id) for thread in self.threads)

    @property
    def turns(self) -> int:
        """Turns of every thread."""
        return sum(thread.turns for thread in self.threads)

    @property
    def context_tokens(self) -> int:
        """The fullest context of the session."""
        return max((thread.context_tokens for thread in self.threads), default=0)

    @property
    def window(self) -> int | None:
        """What the model of the session's agent takes in one request."""
        return agent_window(self.session.agent_id)


def session_rows(actor: Actor, filters: SessionFilters, cursor: str | None) -> Page[SessionRow]:
    """One page of the sessions list, in two queries."""
    page = session_page(actor, filters, cursor=cursor)
    threads: dict[object, list[AgentThread]] = defaultdict(list)
    ids = [session.id for session in page.items]
    rows_of = AgentThread.objects.filter(session_id__in=ids).order_by("created_at", "id")
    for thread in rows_of.only("id", "session_id", "turns", "context_tokens"):
        threads[thread.session_id].append(thread)
    rows = [SessionRow(session, threads[session.id]) for session in page.items]
    return Page(rows, page.next_cursor)


def status_counts(actor: Actor) -> dict[str, int]:
    """How many sessions the actor sees in each status; `COUNTED` + 1 stands for any more."""
    parts: list[str] = []
    params: list[Any] = []
    seen = AgentSession.objects.filter(visible_sessions(actor)).order_by().values("status")
    try:
        for status in ThreadStatus:
            found = seen.filter(status=status)[: COUNTED + 1]
            sql, given = found.query.sql_with_params()
            parts.append(f"SELECT %s, COUNT(*) FROM ({sql}) AS found")  # noqa: S608 - of the ORM
            params += [status.value, *given]
    except EmptyResultSet:  # a filter that fits no row
        return {}
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), params)
        return {status: count for status, count in cursor.fetchall() if count}
