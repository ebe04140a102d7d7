"""What the live side reads from the database, and the threads that hold its connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async
from django.db.models import Q

from runs_app.live.wire import Entry, fact_entry
from sessions_app.journal.rows import read_facts
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection


PAGE = 200
_IDS_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class Watched:
    """A thread as its watchers see it: its head, and the identity that decides who may."""

    id: str
    head_seq: int
    version: int
    status: str
    namespace: str
    user_id: str | None
    agent_id: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Facts that retention removed: they will never come."""

    first: int
    last: int


async def in_database[**P, R](function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a read in a thread that gives its connection back."""
    run = database_sync_to_async(function, thread_sensitive=False)
    result: R = await run(*args, **kwargs)
    return result


def watched(thread: AgentThread) -> Watched:
    """A row as its watchers see it; reads its session."""
    return Watched(
        str(thread.id),
        thread.head_seq,
        thread.version,
        thread.status,
        thread.session.namespace,
        thread.session.user_id,
        thread.agent_id,
    )


def watched_rows(condition: Q) -> list[Watched]:
    """The threads that match."""
    return [watched(row) for row in AgentThread.objects.filter(condition).select_related("session")]


def heads(ids: Collection[str]) -> dict[str, int]:
    """The last seq of each of these threads, in one query per 500."""
    found: dict[str, int] = {}
    wanted = list(ids)
    for start in range(0, len(wanted), _IDS_PER_QUERY):
        rows = AgentThread.objects.filter(id__in=wanted[start : start + _IDS_PER_QUERY])
        found |= {str(id_): seq for id_, seq in rows.values_list("id", "head_seq")}
    return found


def fact_entries(thread_id: str, after: int, through: int | None) -> list[Entry]:
    """A page of facts as entries, `after` excluded, `through` included."""
    query = Q(thread_id=thread_id, seq__gt=after)
    if through is not None:
        query &= Q(seq__lte=through)
    return [fact_entry(thread_id, fact) for fact in read_facts(query, PAGE)]


async def missing(thread_id: str, after: int, through: int | None) -> AsyncIterator[Entry | Gap]:
    """The facts behind `after`, from the database, page by page; what is not there is a gap."""
    while through is None or after < through:
        page = await in_database(fact_entries, thread_id, after, through)
        for entry in page:
            if entry.at.seq > after + 1:
                yield Gap(after + 1, entry.at.seq - 1)
            yield entry
            after = entry.at.seq
        if len(page) < PAGE:
            break
    # An entry may name a fact that was never committed; only the head says what must be there.
    if through is not None and after < through:
        head = (await in_database(heads, [thread_id])).get(thread_id, 0)
        if head >= through:
            yield Gap(after + 1, through)
