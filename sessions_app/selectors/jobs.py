"""Jobs: one page of them, one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from agentadmin.access.actor import READ
from agentadmin.engine.errors import InvalidInput, NotFound
from sessions_app.models import Job
from sessions_app.policies import require_session
from sessions_app.selectors.paging import (
    DEFAULT_LIMIT,
    Page,
    checked_limit,
    parse_time_cursor,
    row_id,
    time_cursor,
)
from sessions_app.states import JobState

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor


def job_page(
    actor: Actor, *, state: str | None = None, cursor: str | None = None, limit: int = DEFAULT_LIMIT
) -> Page[Job]:
    """Jobs on sessions that the actor sees, the newest first."""
    checked_limit(limit)
    seen = actor.visible(
        READ, namespace="session__namespace", agent="session__agent_id", user="session__user_id"
    )
    rows = Job.objects.select_related("session").filter(seen)
    if state:
        if state not in set(JobState):
            raise InvalidInput(f"must be one of {', '.join(JobState)}", path="state")
        rows = rows.filter(state=state)
    if cursor:
        at, id_ = parse_time_cursor(cursor)
        rows = rows.filter(Q(requested_at__lt=at) | Q(requested_at=at, id__lt=id_))
    found = list(rows.order_by("-requested_at", "-id")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    return Page(items, time_cursor(items[-1].requested_at, items[-1].id) if more else None)


def job_detail(actor: Actor, job_id: object, permission: str = READ) -> Job:
    """A job on a session on which the actor holds the permission."""
    job = Job.objects.select_related("session").filter(id=row_id(job_id)).first()
    if job is None:
        raise NotFound("There is no such job.")
    require_session(actor, permission, job.session)
    return job
