"""The journal's facts, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from agentadmin.engine.errors import InvalidInput
from sessions_app.journal.rows import read_facts
from sessions_app.journal.unreadable import kindly
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit, searchable
from sessions_app.selectors.weight import affordable, weights

if TYPE_CHECKING:
    from collections.abc import Collection

    from agentadmin.engine.journal.facts import Fact
    from sessions_app.models import AgentThread


def fact_page(
    thread: AgentThread,
    *,
    after: int = 0,
    limit: int = DEFAULT_LIMIT,
    types: Collection[str] = (),
    run_id: str | None = None,
    turn_id: str | None = None,
) -> Page[Fact]:
    """Facts after a seq, in seq order; the cursor is the last seq of the page."""
    checked_limit(limit)
    if after < 0:
        raise InvalidInput("must not be negative", path="after")
    wanted = Q(thread_id=thread.id, seq__gt=after)
    if types:
        wanted &= Q(type__in=[searchable(type_, "types") for type_ in types])
    if run_id is not None:
        wanted &= Q(run_id=searchable(run_id, "run_id"))
    if turn_id is not None:
        wanted &= Q(turn_id=searchable(turn_id, "turn_id"))
    found = weights(thread.id, wanted, limit + 1)
    items = read_facts(wanted, min(affordable(found), limit), decode=kindly)
    return Page(items, str(items[-1].seq) if len(found) > len(items) else None)
