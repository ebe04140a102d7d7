"""Turns: one of them, those of a thread, and what each may be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import READ
from agentadmin.engine.errors import BadCursor, NotFound
from runs_app.models import Turn
from runs_app.states import TERMINAL
from sessions_app.policies import require_thread
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread


def turn_detail(actor: Actor, turn_id: str, permission: str = READ) -> Turn:
    """A turn of a thread on which the actor holds the permission."""
    turns = Turn.objects.select_related("thread__session")
    turn = None if "\0" in turn_id else turns.filter(id=turn_id).first()
    if turn is None:
        raise NotFound("There is no such turn.")
    require_thread(actor, permission, turn.thread)
    return turn


def turn_page(
    thread: AgentThread, *, cursor: str | None = None, limit: int = DEFAULT_LIMIT
) -> Page[Turn]:
    """The turns of a thread, newest first; the cursor is a place in the queue."""
    checked_limit(limit)
    turns = Turn.objects.filter(thread=thread).order_by("-start_seq")
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
            raise BadCursor("The cursor is not one that this list gave.", path="cursor")
        turns = turns.filter(start_seq__lt=int(cursor))
    found = list(turns[: limit + 1])
    items = found[:limit]
    return Page(items, str(items[-1].start_seq) if len(found) > limit else None)


def turns_ahead(turn: Turn) -> int:
    """How many unfinished turns come before this one."""
    earlier = Turn.objects.filter(thread_id=turn.thread_id, start_seq__lt=turn.start_seq)
    return earlier.exclude(state__in=TERMINAL).count()
