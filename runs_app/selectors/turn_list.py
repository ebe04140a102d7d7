"""Turns across threads, newest first: what the Turns page and its API list."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

from django.db.models import Count

from agentadmin.engine.errors import InvalidInput
from runs_app.models import Interaction, Turn
from runs_app.policies import visible_in_thread
from runs_app.selectors.cursors import parse_row_cursor, row_cursor
from runs_app.states import OPEN_STATES, TurnState
from sessions_app.selectors.paging import DEFAULT_LIMIT, Page, checked_limit
from sessions_app.states import ThreadStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from agentadmin.access.actor import Actor

OPEN = "open"
"""The filter that names every state that a turn can still leave."""
_BUSY = tuple(status for status in ThreadStatus if status is not ThreadStatus.IDLE)


def visible_turns(
    actor: Actor,
    *,
    status: str | None = None,
    agent_id: str | None = None,
    cursor: str | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Page[Turn]:
    """The turns that the actor may see. Ids of turns sort by the time of their making."""
    checked_limit(limit)
    turns = Turn.objects.select_related("thread__session").filter(visible_in_thread(actor))
    if status is not None:
        turns = _in_states(turns, _states(status))
    if agent_id is not None:
        turns = turns.filter(thread__agent_id=agent_id.replace("\0", "\ufffd"))
    if cursor is not None:
        turns = turns.filter(id__lt=parse_row_cursor(cursor)[1])
    found = list(turns.order_by("-id")[: limit + 1])
    items = found[:limit]
    last = row_cursor(items[-1].created_at, items[-1].id) if len(found) > limit else None
    return Page(items, last)


def _in_states(turns: QuerySet[Turn], states: Sequence[TurnState]) -> QuerySet[Turn]:
    turns = turns.filter(state__in=states)
    if set(states) <= set(OPEN_STATES):
        # Found by the few sessions that are not at rest: an index over the state of every turn
        # would have to be written by each of them.
        turns = turns.filter(
            thread__session__status__in=_BUSY, thread__active_turn_id__isnull=False
        )
    return turns


def _states(text: str) -> list[TurnState]:
    """One state, several with commas between, or `open`."""
    if text == OPEN:
        return list(OPEN_STATES)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in set(TurnState):
            raise InvalidInput(f"must be {OPEN}, or of {', '.join(TurnState)}", path="status")
    return [TurnState(name) for name in names]


def open_by_state(actor: Actor) -> dict[str, int]:
    """How many turns have not ended, by their states."""
    turns = _in_states(Turn.objects.filter(visible_in_thread(actor)), OPEN_STATES)
    return dict(turns.order_by().values_list("state").annotate(count=Count("id")))


def places_in_queue(queued: Sequence[Turn]) -> dict[str, int]:
    """How many turns that have not ended come before each of these."""
    threads = {turn.thread_id for turn in queued}
    if not threads:
        return {}
    rows = Turn.objects.filter(thread_id__in=threads, state__in=OPEN_STATES)
    before: dict[object, list[int]] = defaultdict(list)
    for thread_id, seq in rows.order_by("start_seq").values_list("thread_id", "start_seq"):
        before[thread_id].append(seq)
    return {turn.id: bisect_left(before[turn.thread_id], turn.start_seq) for turn in queued}


def tools_asked(interaction_ids: Sequence[str]) -> dict[str, str]:
    """The tools that these questions are about."""
    if not interaction_ids:
        return {}
    rows = Interaction.objects.filter(id__in=interaction_ids)
    return dict(rows.values_list("id", "tool"))
