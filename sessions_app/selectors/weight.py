"""How much long payloads weigh: a page ends early rather than fill the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.db.models.functions import Length

from agentadmin.engine.journal.facts import FactType
from sessions_app.models import JournalFact, Payload

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from uuid import UUID

PAGE_CHARACTERS = 32 * 1024 * 1024
"""What a page may hold in long payloads; its first entry is there however long it is."""


def weights(thread_id: UUID, wanted: Q, limit: int) -> list[int]:
    """What each of the first facts that match weighs, in seq order; short ones weigh nothing."""
    rows = JournalFact.objects.filter(wanted).order_by("seq").annotate(long=Q(payload=None))
    found = list(rows.values_list("seq", "payload_commit", "long")[:limit])
    lengths = _lengths(thread_id, {seq: bytes(commit) for seq, commit, long in found if long})
    return [lengths.get(seq, 0) for seq, _, _ in found]


def long_messages(thread_id: UUID, seqs: Collection[int]) -> dict[int, int]:
    """The same for the facts of messages; what a person wrote stands in its turn's first fact."""
    here = JournalFact.objects.filter(thread_id=thread_id)
    said = here.filter(seq__in=seqs, type=FactType.MESSAGE_USER)
    starts = Q(type=FactType.TURN_START, turn_id__in=said.values("turn_id"))
    rows = here.filter(Q(seq__in=seqs) | starts, payload__isnull=True)
    found = list(rows.values_list("seq", "turn_id", "type", "payload_commit"))
    lengths = _lengths(thread_id, {seq: bytes(commit) for seq, _, _, commit in found})
    turns = {turn: seq for seq, turn, type_, _ in found if type_ == FactType.TURN_START}
    for seq, turn in said.filter(turn_id__in=turns).values_list("seq", "turn_id"):
        lengths[seq] = lengths.get(seq, 0) + lengths[turns[turn]]
    return lengths


def affordable(lengths: Iterable[int]) -> int:
    """How many of the entries, in this order, a page may hold; always the first."""
    count = sum(1 for _ in _while_light(lengths))
    return max(count, 1)


def _while_light(lengths: Iterable[int]) -> Iterator[int]:
    total = 0
    for length in lengths:
        total += length
        if total > PAGE_CHARACTERS:
            return
        yield length


def _lengths(thread_id: UUID, commits: dict[int, bytes]) -> dict[int, int]:
    if not commits:
        return {}
    kept = Payload.objects.filter(thread_id=thread_id, commit__in=list(commits.values()))
    lengths = {bytes(c): n for c, n in kept.annotate(n=Length("text")).values_list("commit", "n")}
    return {seq: lengths.get(commit, 0) for seq, commit in commits.items()}
