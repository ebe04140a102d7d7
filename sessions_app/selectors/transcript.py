"""The whole committed message history, also what has left the working context (spec §8.8).

A message stands where it first appeared, with the content that it has as of the wanted seq. To
know both without reading every message, the keys of all item facts are read first (they stand at
the start of each payload); messages are read for the wanted page only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.db.models.functions import Left

from agentadmin.engine.errors import AgentAdminError, InvalidInput
from agentadmin.engine.journal.facts import ITEM_TYPES, Fact, FactType
from agentadmin.engine.journal.projection import entry_seqs, input_seq, item_of
from agentadmin.engine.state import codec
from sessions_app.journal.reading import facts_at
from sessions_app.journal.rows import read_facts
from sessions_app.journal.unreadable import UNREADABLE, kindly, unreadable_message
from sessions_app.models import AgentThread, JournalFact
from sessions_app.selectors.paging import DEFAULT_LIMIT, checked_limit
from sessions_app.selectors.weight import affordable, long_messages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

_KEY = re.compile(r'\{"item":("(?:[^"\\]|\\.)*")')
_KEY_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the history; `changed_seq` names the fact that replaced it in place."""

    seq: int
    item: str
    type: str
    at: datetime
    turn_id: str | None
    run_id: str | None
    message: dict[str, Any]
    in_context: bool
    changed_seq: int | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of the history in order; `before` leads to the page of older messages."""

    as_of: int
    items: Sequence[Entry]
    before: int | None


@dataclass(slots=True)
class _Place:
    """Where a key first stood, and which fact holds its content now."""

    key: str
    first: int
    latest: int


@dataclass(slots=True)
class _Index:
    """Every key of the history, and which of them the working context holds."""

    places: dict[str, _Place] = field(default_factory=dict)
    key_at: dict[int, str] = field(default_factory=dict)
    context: set[str] = field(default_factory=set)

    def put(self, seq: int, key: str) -> None:
        place = self.places.setdefault(key, _Place(key, seq, seq))
        place.latest = seq
        self.context.add(key)

    def replace(self, fact: Fact) -> None:
        """`context/replaced`: what it names stays; what it holds inline is a message of its own."""
        kept = set()
        for entry in fact.payload["items"]:
            if "message" in entry:
                kept.add(entry["item"])
                self.put(fact.seq, entry["item"])
            else:
                kept.update(self.key_at[seq] for seq in entry_seqs(entry))
        self.context = kept


def transcript(
    thread: AgentThread,
    *,
    as_of: int | None = None,
    before: int | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Transcript:
    """The newest messages before a seq, as they were as of a seq."""
    checked_limit(limit)
    for name, value in (("as_of", as_of), ("before", before)):
        if value is not None and value < 0:
            raise InvalidInput("must not be negative", path=name)
    head = AgentThread.objects.values_list("head_seq", flat=True).get(id=thread.id)
    seq = head if as_of is None else min(as_of, head)
    index = _index(thread, seq)
    older = [p for p in index.places.values() if before is None or p.first < before]
    page = older[max(len(older) - limit, 0) :]
    while page and len(page) < len(older) and older[-len(page) - 1].first == page[0].first:
        page = older[-len(page) - 1 :]
    page = _light(thread, page)
    more = len(page) < len(older)
    return Transcript(seq, _entries(thread, page, index), page[0].first if more else None)


def entries_of(thread: AgentThread, keys: Collection[str]) -> list[Entry]:
    """These messages as they are now, each where it first stood."""
    head = AgentThread.objects.values_list("head_seq", flat=True).get(id=thread.id)
    index = _index(thread, head)
    return _entries(thread, [p for p in index.places.values() if p.key in keys], index)


def keys_before(thread: AgentThread, before: int, most: int) -> set[str]:
    """The keys of so many messages before a seq."""
    facts = JournalFact.objects.filter(thread_id=thread.id, type__in=ITEM_TYPES, seq__lt=before)
    seqs = list(facts.order_by("-seq").values_list("seq", flat=True)[:most])
    return {key for _, key in _keys(thread, before, seq__in=seqs)} if seqs else set()


def _light(thread: AgentThread, page: list[_Place]) -> list[_Place]:
    """The newest of a page that fit into one answer; a fact's own messages stay together."""
    lengths = long_messages(thread.id, {seq for p in page for seq in (p.first, p.latest)})
    if not lengths:
        return page
    weights = [max(lengths.get(p.first, 0), lengths.get(p.latest, 0)) for p in reversed(page)]
    oldest = page[len(page) - affordable(weights)].first
    return [place for place in page if place.first >= oldest]


def _index(thread: AgentThread, as_of: int) -> _Index:
    replaced = Q(thread_id=thread.id, type=FactType.CONTEXT_REPLACED, seq__lte=as_of)
    found = read_facts(replaced, as_of + 1, decode=kindly)
    replacements = {fact.seq: fact for fact in found if UNREADABLE not in fact.payload}
    index = _Index()
    keys = dict(_keys(thread, as_of))
    for seq in sorted({*keys, *replacements}):
        if seq in keys:
            index.key_at[seq] = keys[seq]
            index.put(seq, keys[seq])
        else:
            index.replace(replacements[seq])
    return index


def _keys(thread: AgentThread, as_of: int, **which: Any) -> Iterable[tuple[int, str]]:
    rows = JournalFact.objects.filter(thread_id=thread.id, type__in=ITEM_TYPES, seq__lte=as_of)
    rows = rows.filter(**which)
    unread: list[int] = []
    heads = rows.annotate(head=Left("payload", _KEY_CHARACTERS)).values_list("seq", "head")
    for seq, head in heads.order_by("seq"):
        found = _KEY.match(head or "")
        if found is None:
            unread.append(seq)
        else:
            yield seq, codec.loads(found[1])
    for fact in facts_at(str(thread.id), unread, decode=kindly):
        key = fact.payload.get("item")
        yield fact.seq, key if isinstance(key, str) else f"?{fact.seq}"


def _entries(thread: AgentThread, page: Sequence[_Place], index: _Index) -> list[Entry]:
    seqs = {place.latest for place in page} | {place.first for place in page}
    facts = {fact.seq: fact for fact in facts_at(str(thread.id), list(seqs), decode=kindly)}
    sources = {input_seq(fact) for fact in facts.values() if fact.type in ITEM_TYPES}
    missing = [seq for seq in sources if seq is not None and seq not in facts]
    others = facts_at(str(thread.id), missing, decode=kindly)
    known = facts | {fact.seq: fact for fact in others}
    return [_entry(place, known, in_context=place.key in index.context) for place in page]


def _entry(place: _Place, known: dict[int, Fact], *, in_context: bool) -> Entry:
    fact, latest = known[place.first], known[place.latest]
    return Entry(
        seq=place.first,
        item=place.key,
        type=fact.type,
        at=fact.occurred_at,
        turn_id=fact.turn_id,
        run_id=fact.run_id,
        message=_message(place.key, latest, known),
        in_context=in_context,
        changed_seq=None if place.latest == place.first else place.latest,
    )


def _message(key: str, fact: Fact, known: dict[int, Fact]) -> dict[str, Any]:
    if fact.type in ITEM_TYPES:
        return shown_message(fact, known)
    inline = (e for e in fact.payload["items"] if "message" in e and e["item"] == key)
    message: dict[str, Any] = next(inline)["message"]
    return message


def shown_message(fact: Fact, known: dict[int, Fact]) -> dict[str, Any]:
    """The message of an item fact; of one that cannot be decoded, what is wrong with it."""
    try:
        message: Any = item_of(fact, known).msg.to_dict()
    except (AgentAdminError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        return unreadable_message(fact.payload, error)
    return message if isinstance(message, dict) else unreadable_message(fact.payload, None)
