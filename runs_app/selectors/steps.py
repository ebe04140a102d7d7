"""A run's facts: all of them up to a limit, and a page that ends at a seq."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from sessions_app.journal.rows import read_facts
from sessions_app.models import JournalFact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.facts import Fact
    from runs_app.models import Run

MOST = 2_000
PAGE = 100


def facts_of_run(run: Run) -> list[Fact]:
    """The first facts of a run, with those of its questions' answers; at most `MOST`."""
    return read_facts(_of(run), MOST)


def newest_facts(
    run: Run, before: int | None, prefixes: Sequence[str] = ()
) -> tuple[list[Fact], int | None]:
    """The newest facts of a run before a seq, in order, and where the older ones end."""
    wanted = _of(run) if before is None else _of(run) & Q(seq__lt=before)
    if prefixes:
        wanted &= Q(type__regex=f"^({'|'.join(prefixes)})/")
    seqs = JournalFact.objects.filter(wanted).order_by("-seq").values_list("seq", flat=True)
    found = list(seqs[: PAGE + 1])
    if not found:
        return [], None
    facts = read_facts(wanted & Q(seq__gte=found[:PAGE][-1]), PAGE)
    return facts, (facts[0].seq if len(found) > PAGE else None)


def _of(run: Run) -> Q:
    """By the thread's key and the run's stretch of it, which the primary key finds."""
    return Q(thread_id=run.thread_id, seq__gte=run.start_seq, run_id=run.id)
