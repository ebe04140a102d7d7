"""Sessions: one page of them, one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from agentadmin.engine.errors import InvalidInput, NotFound
from sessions_app.models import AgentSession, AgentThread
from sessions_app.policies import require_session, visible_sessions
from sessions_app.selectors.paging import (
    DEFAULT_LIMIT,
    Page,
    checked_limit,
    parse_time_cursor,
    row_id,
    searchable,
    time_cursor,
)
from sessions_app.states import ThreadStatus

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor

_SEARCHED = ("session_id", "user_id", "agent_id", "namespace")
ANONYMOUS = ""
"""`user_id=` with nothing behind it asks for the sessions of nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilters:
    """What a reader looks for; None means anything."""

    q: str | None = None
    agent_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    status: str | None = None


def session_page(
    actor: Actor,
    filters: SessionFilters,
    *,
    cursor: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Page[AgentSession]:
    """One page of the sessions that the actor sees, the most recently changed first."""
    checked_limit(limit)
    # The erased ones are found by their jobs and in the audit log.
    kept = AgentSession.objects.filter(visible_sessions(actor), erased_at=None)
    rows = kept.filter(_matching(filters))
    if cursor:
        at, id_ = parse_time_cursor(cursor)
        rows = rows.filter(updated_at__lte=at).filter(Q(updated_at__lt=at) | Q(id__lt=id_))
    found = list(rows.order_by("-updated_at", "-id")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    return Page(items, time_cursor(items[-1].updated_at, items[-1].id) if more else None)


def _matching(filters: SessionFilters) -> Q:
    wanted = Q()
    if filters.status:
        if filters.status not in set(ThreadStatus):
            raise InvalidInput(f"must be one of {', '.join(ThreadStatus)}", path="status")
        wanted &= Q(status=filters.status)
    for field in ("agent_id", "session_id"):
        value = getattr(filters, field)
        if value:
            wanted &= Q(**{field: searchable(value, field)})
    if filters.user_id is not None:
        owner = searchable(filters.user_id, "user_id")
        wanted &= Q(user_id=None) if owner == ANONYMOUS else Q(user_id=owner)
    for word in searchable(filters.q or "", "q").split():
        wanted &= _containing(word)
    return wanted


def _containing(word: str) -> Q:
    found = Q()
    for field in _SEARCHED:
        found |= Q(**{f"{field}__icontains": word})
    try:
        return found | Q(id=UUID(word))
    except ValueError:
        return found


def session_detail(actor: Actor, session_id: object, permission: str) -> AgentSession:
    """A session on which the actor holds the permission; one that is not seen is not found."""
    session = AgentSession.objects.filter(id=row_id(session_id)).first()
    if session is None:
        raise NotFound
    require_session(actor, permission, session)
    return session


def session_threads(session: AgentSession) -> list[AgentThread]:
    """The threads of a session, the first agent's `main` first."""
    threads = AgentThread.objects.filter(session=session).select_related("session")
    return list(threads.order_by("created_at", "id"))
