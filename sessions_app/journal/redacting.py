"""Redaction in the journal: the content of one message goes from every fact that holds it.

Facts keep their place, their type and their commitment; without a salt they say that something in
them was erased. It runs inside the commit of the edit that asked for it, so no run is under way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from agentadmin.engine.journal.facts import Fact, FactType
from agentadmin.engine.journal.redacting import Redaction, messages_in, scrubbed
from agentadmin.engine.state import codec
from sessions_app.journal.rows import FACT_COLUMNS, facts_of
from sessions_app.journal.unreadable import kindly
from sessions_app.models import ControlRequest, JournalFact, Payload

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID

_QUESTIONS = (FactType.INTERACTION_REQUESTED, FactType.INTERACTION_RESOLVED)


def holds_message(thread_id: UUID, message_id: str) -> bool:
    """Whether the journal has a message of this id anywhere."""
    facts = _naming(thread_id, message_id)
    return any(found for fact in facts for found in messages_in(fact.payload, message_id))


@dataclass(frozen=True, slots=True)
class Redacted:
    """The facts that say less now, as they stand, and the commands that brought the message."""

    facts: Sequence[Fact]
    controls: Sequence[str]

    def of(self, types: Collection[str]) -> list[Fact]:
        """The facts of some types."""
        return [fact for fact in self.facts if fact.type in types]


def redact_facts(thread_id: UUID, message_id: str, replacement: str, *, before: int) -> Redacted:
    """Take a message's content out of all facts before a seq, and of what is kept beside them."""
    naming = [fact for fact in _naming(thread_id, message_id) if fact.seq < before]
    redaction = Redaction.of(message_id, replacement, [fact.payload for fact in naming])
    questions: list[Fact] = []
    if redaction.calls or redaction.results:
        questions = _read(Q(thread_id=thread_id, type__in=_QUESTIONS, seq__lt=before))
        redaction = redaction.asking(
            fact.payload for fact in questions if fact.type == FactType.INTERACTION_REQUESTED
        )
    changed: list[Fact] = []
    for fact in {fact.seq: fact for fact in (*naming, *questions)}.values():
        payload = scrubbed(fact.type, fact.payload, redaction)
        if payload != fact.payload:
            changed.append(replace(fact, payload=payload, erased=True))
    _write(thread_id, changed)
    _erase_document(thread_id, {fact.seq for fact in changed})
    return Redacted(changed, _redact_controls(thread_id, redaction))


def facts_naming(thread_id: UUID, message_id: str) -> list[Fact]:
    """The same for pages: rows that cannot be decoded stop nobody."""
    query = _naming_query(thread_id, message_id)
    rows = JournalFact.objects.filter(query).order_by("seq").values_list(*FACT_COLUMNS)
    return facts_of(list(rows), "default", kindly)


def _naming(thread_id: UUID, message_id: str) -> list[Fact]:
    """Facts whose text has the id in it; whether as a message's, their reader finds out."""
    return _read(_naming_query(thread_id, message_id))


def _naming_query(thread_id: UUID, message_id: str) -> Q:
    outside = Payload.objects.filter(
        holding("text", message_id), thread_id=thread_id, commit=OuterRef("payload_commit")
    )
    here = holding("payload", message_id) | Q(Exists(outside), payload__isnull=True)
    return Q(thread_id=thread_id) & here


def holding(column: str, message_id: str) -> Q:
    """Rows whose text has the id in it; not by LIKE, whose patterns SQLite limits in length."""
    needle = Value(codec.dumps(message_id))
    return Q(GreaterThan(StrIndex(column, needle), Value(0)))


def _read(query: Q) -> list[Fact]:
    rows = JournalFact.objects.filter(query).order_by("seq").values_list(*FACT_COLUMNS)
    return facts_of(list(rows), "default")


def _write(thread_id: UUID, facts: list[Fact]) -> None:
    for fact in facts:
        text = codec.dumps(fact.payload)
        JournalFact.objects.filter(thread_id=thread_id, seq=fact.seq).update(
            payload=text, salt=None
        )
    commits = [fact.commit for fact in facts]
    Payload.objects.filter(thread_id=thread_id, commit__in=commits).update(salt=None, text=None)


PATCHES = '"op":"json_patch"'
"""What the text of an edit holds when it may repeat any message, without naming it."""


def _redact_controls(thread_id: UUID, redaction: Redaction) -> list[str]:
    """An interrupt's own message came by the mailbox, and so did patches of messages."""
    of_thread = ControlRequest.objects.filter(thread_id=thread_id)
    saying = of_thread.filter(holding("payload", redaction.message_id))
    patching = of_thread.filter(holding("result", redaction.message_id), payload__contains=PATCHES)
    for control in patching:
        ControlRequest.objects.filter(id=control.id).update(payload="{}")
    for control in saying:
        payload: dict[str, Any] = scrubbed("", codec.loads(control.payload), redaction)
        ControlRequest.objects.filter(id=control.id).update(payload=codec.dumps(payload))
    return [str(control.id) for control in {*patching, *saying}]


def _erase_document(thread_id: UUID, seqs: set[int]) -> None:
    """The file as it was imported holds the message in its own words: then all of it goes.

    The messages of a file stand right behind the baseline that tells of it.
    """
    for baseline in _read(Q(thread_id=thread_id, type=FactType.BASELINE)):
        commit, count = baseline.payload.get("document"), int(baseline.payload.get("count") or 0)
        if commit and not seqs.isdisjoint(range(baseline.seq + 1, baseline.seq + 1 + count)):
            kept = Payload.objects.filter(thread_id=thread_id, commit=bytes.fromhex(commit))
            kept.update(salt=None, text=None)
