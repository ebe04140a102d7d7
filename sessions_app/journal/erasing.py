"""Erasure: facts become tombstones, documents and substates go; the proofs stay valid.

The only place that changes a written fact. Whoever calls it holds the thread: a live run would go
on from what it has in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.engine.journal.erasing import blank_substates, tombstone
from agentadmin.engine.state import codec
from sessions_app.journal.rows import FACT_COLUMNS, facts_of
from sessions_app.models import JournalFact, Payload, StateSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from agentadmin.engine.journal.facts import Fact


@transaction.atomic
def erase_facts(thread_id: UUID, seqs: Collection[int]) -> int:
    """Turn the facts at these seqs into tombstones; how many still had their content."""
    rows = JournalFact.objects.filter(thread_id=thread_id, seq__in=list(seqs), salt__isnull=False)
    facts = facts_of(list(rows.order_by("seq").values_list(*FACT_COLUMNS)), "default")
    for fact in facts:
        _erase(thread_id, fact)
    Payload.objects.filter(
        thread_id=thread_id, commit__in=[fact.commit for fact in facts], salt__isnull=False
    ).update(salt=None, text=None)
    return len(facts)


def _erase(thread_id: UUID, fact: Fact) -> None:
    text = codec.dumps(tombstone(fact.type, fact.payload))
    JournalFact.objects.filter(thread_id=thread_id, seq=fact.seq).update(payload=text, salt=None)


def erase_documents(thread_id: UUID) -> int:
    """Erase imported documents and long payloads; how many there were."""
    kept = Payload.objects.filter(thread_id=thread_id, text__isnull=False)
    return kept.update(salt=None, text=None)


def erase_substates(thread_id: UUID) -> int:
    """Erase what the snapshots say beside their messages; how many there were."""
    kept = StateSnapshot.objects.filter(thread_id=thread_id, substate_salt__isnull=False)
    blank = codec.dumps(blank_substates())
    erased = kept.filter(substate__isnull=False).update(substate=blank, reason="", actor="")
    kept.update(substate_salt=None, reason="", actor="")
    return erased
