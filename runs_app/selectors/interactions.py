"""Questions to people: one of them, and those that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q

from agentadmin.access.actor import READ
from agentadmin.engine.errors import InvalidInput, NotFound
from agentadmin.engine.journal.facts import FactType
from runs_app.models import Interaction
from runs_app.policies import visible_in_thread
from runs_app.selectors.cursors import parse_row_cursor, row_cursor
from runs_app.states import InteractionStatus
from sessions_app.journal.rows import read_facts
from sessions_app.models import AgentThread
from sessions_app.policies import require_thread, visible_threads
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit, row_id

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor

NEAR = 400
"""How many facts before a question its decision is looked for: they come in one commit."""


def interaction_detail(actor: Actor, interaction_id: str, permission: str = READ) -> Interaction:
    """A question of a thread on which the actor holds the permission."""
    rows = Interaction.objects.select_related("thread__session")
    asked = None if "\0" in interaction_id else rows.filter(id=interaction_id).first()
    if asked is None:
        raise NotFound("There is no such interaction.")
    require_thread(actor, permission, asked.thread)
    return asked


def interaction_page(
    actor: Actor,
    *,
    status: str | None = None,
    thread_id: str | None = None,
    cursor: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Page[Interaction]:
    """The questions that the actor may see, oldest first: who waits longest stands on top."""
    checked_limit(limit)
    rows = Interaction.objects.select_related("thread__session").filter(visible_in_thread(actor))
    if status is not None:
        if status not in set(InteractionStatus):
            raise InvalidInput(f"must be one of {', '.join(InteractionStatus)}", path="status")
        rows = rows.filter(status=status)
    if thread_id is not None:
        rows = rows.filter(thread_id=row_id(thread_id))
    if cursor is not None:
        at, id_ = parse_row_cursor(cursor)
        rows = rows.filter(Q(created_at__gt=at) | Q(created_at=at, id__gt=id_))
    found = list(rows.order_by("created_at", "id")[: limit + 1])
    items = found[:limit]
    last = row_cursor(items[-1].created_at, items[-1].id) if len(found) > limit else None
    return Page(items, last)


def decided_page(
    actor: Actor, *, cursor: str | None = None, limit: int = DEFAULT_LIMIT
) -> Page[Interaction]:
    """The questions that were decided, the newest question first: its ids sort by time."""
    checked_limit(limit)
    rows = Interaction.objects.select_related("thread__session").filter(visible_in_thread(actor))
    rows = rows.exclude(status=InteractionStatus.PENDING)
    if cursor is not None:
        rows = rows.filter(id__lt=parse_row_cursor(cursor)[1])
    found = list(rows.order_by("-id")[: limit + 1])
    items = found[:limit]
    last = row_cursor(items[-1].created_at, items[-1].id) if len(found) > limit else None
    return Page(items, last)


def rule_that_asked(asked: Interaction) -> dict[str, Any] | None:
    """The permission rule that decided to ask, where one did; it stands before the question."""
    near = Q(thread_id=asked.thread_id, seq__lt=asked.seq, seq__gte=asked.seq - NEAR)
    decisions = read_facts(near & Q(type=FactType.TOOL_DECISION), NEAR)
    mine = [fact for fact in decisions if fact.payload.get("call_id") == asked.call_id]
    rule = mine[-1].payload.get("rule") if mine else None
    return rule if isinstance(rule, dict) else None


def open_interactions(thread: AgentThread) -> list[Interaction]:
    """What a thread waits for now."""
    rows = Interaction.objects.filter(thread=thread, status=InteractionStatus.PENDING)
    return list(rows.order_by("seq"))


def open_count(actor: Actor) -> int:
    """How many questions wait that the actor may see; the partial index holds only those.

    Each asks for its thread: a join would let a database begin with all of the actor's sessions.
    """
    rows = Interaction.objects.filter(status=InteractionStatus.PENDING)
    if (seen := visible_threads(actor)) != Q():
        rows = rows.filter(Exists(AgentThread.objects.filter(seen, id=OuterRef("thread_id"))))
    return rows.count()
