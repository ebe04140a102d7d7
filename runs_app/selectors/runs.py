"""Runs: one of them, and lists by status, thread or turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from agentadmin.access.actor import READ
from agentadmin.engine.errors import InvalidInput, NotFound
from runs_app.models import Run
from runs_app.policies import visible_in_thread
from runs_app.selectors.cursors import parse_row_cursor, row_cursor
from runs_app.states import RunStatus
from sessions_app.policies import require_thread
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit, row_id

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor


def run_detail(actor: Actor, run_id: str, permission: str = READ) -> Run:
    """A run of a thread on which the actor holds the permission."""
    runs = Run.objects.select_related("thread__session")
    run = None if "\0" in run_id else runs.filter(id=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    require_thread(actor, permission, run.thread)
    return run


def run_page(
    actor: Actor,
    *,
    status: str | None = None,
    thread_id: str | None = None,
    turn_id: str | None = None,
    cursor: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Page[Run]:
    """The runs that the actor may see, newest first."""
    checked_limit(limit)
    runs = Run.objects.select_related("thread__session").filter(visible_in_thread(actor))
    if status is not None:
        wanted = _statuses(status)
        runs = runs.filter(status__in=wanted)
        if wanted == [RunStatus.RUNNING]:
            # Found by the few threads that can go on: an index over the status of every run would
            # have to be written by each of them.
            runs = runs.filter(thread__runnable_since__isnull=False)
    if thread_id is not None:
        runs = runs.filter(thread_id=row_id(thread_id))
    if turn_id is not None:
        runs = runs.filter(turn_id=turn_id.replace("\0", "\ufffd"))
    if cursor is not None:
        at, id_ = parse_row_cursor(cursor)
        runs = runs.filter(Q(started_at__lt=at) | Q(started_at=at, id__lt=id_))
    found = list(runs.order_by("-started_at", "-id")[: limit + 1])
    items = found[:limit]
    last = row_cursor(items[-1].started_at, items[-1].id) if len(found) > limit else None
    return Page(items, last)


def _statuses(text: str) -> list[str]:
    """One status, or several with commas between."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in set(RunStatus):
            raise InvalidInput(f"must be one of {', '.join(RunStatus)}", path="status")
    return names
