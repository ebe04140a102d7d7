"""Who may watch a thread, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import READ
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.later import append_later
from runs_app import cursors
from runs_app.live.records import Watched, watched
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.access.errors import Hidden, Refused


def watched_thread(actor: Actor, thread_id: str) -> Watched:
    """The thread, if this actor may read it. Raises NotAuthenticated, Forbidden or NotFound."""
    actor.require(READ)
    return watched(thread_detail(actor, thread_id))


def begin_watching(actor: Actor, thread_id: str) -> Watched:
    """The same at the beginning, which the audit log keeps as any other read."""
    actor.require(READ)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "events")
    return watched(thread)


def open_position(thread: Watched, after: str | None) -> cursors.Position | None:
    """The place that a watcher's cursor names; None, from now on, where it gives none."""
    if not after:
        return None
    position = cursors.parse(after, thread.id)
    cursors.check_ahead(position, thread.head_seq)
    return position


def audit_refusal(actor: Actor, error: Refused | Hidden, path: str) -> None:
    """A socket that was refused leaves the entry that a refused request leaves."""
    content = {"code": error.code, "permission": getattr(error, "permission", None), "path": path}
    append_later(
        NewEntry(
            namespace=error.namespace,
            actor=actor,
            action="sockets.open",
            target=error.target or Target(kind="route", label=path),
            outcome=Outcome.DENIED,
            content=content,
        )
    )
