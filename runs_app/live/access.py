"""Who may watch a thread, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from agentadmin.access.actor import READ
from agentadmin.engine.errors import NotFound
from runs_app import cursors
from runs_app.live.records import Watched, watched_rows

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor


def watched_thread(actor: Actor, thread_id: str) -> Watched:
    """The thread, if this actor may read it. Raises NotAuthenticated, Forbidden or NotFound."""
    actor.require(READ)
    try:
        id_ = UUID(thread_id)
    except ValueError:
        raise NotFound from None
    found = watched_rows(Q(id=id_))
    if not found:
        raise NotFound
    thread = found[0]
    actor.require_row(
        READ, namespace=thread.namespace, user_id=thread.user_id, agent_id=thread.agent_id
    )
    return thread


def open_position(thread: Watched, after: str | None) -> cursors.Position | None:
    """The place that a watcher's cursor names; None, from now on, where it gives none."""
    if not after:
        return None
    position = cursors.parse(after, thread.id)
    cursors.check_ahead(position, thread.head_seq)
    return position
