"""Messages that facts after a seq changed where they stood long before: upserted, or redacted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentadmin.engine.journal.facts import ITEM_TYPES, Fact, FactType
from sessions_app.journal.redacting import facts_naming
from sessions_app.selectors.transcript import Entry, entries_of, keys_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions_app.models import AgentThread

LOOK_BACK = 40
"""How many messages before its turn a run may change: those of the call that it goes on with."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The messages as they are now, each in its old place, and the anchors of what has no more."""

    entries: Sequence[Entry] = ()
    gone: Sequence[str] = ()


def replaced_by(thread: AgentThread, older: Sequence[Fact], fresh: Sequence[Fact]) -> Replaced:
    """What fresh facts changed in messages that stand before all of these facts."""
    redactions = [fact for fact in fresh if fact.type == FactType.MESSAGE_REDACTED]
    said = {key for fact in fresh if (key := _key(fact))}
    known = {key for fact in older if (key := _key(fact))}
    edited = {key for fact in fresh if fact.turn_id is None and (key := _key(fact))}
    first = min((fact.seq for fact in (*older, *fresh)), default=0)
    upserted = (said - known - edited) & _recent(thread, said - known - edited, first)
    touched, gone = _redacted(thread, redactions)
    wanted = edited | upserted | set(touched)
    if not wanted:
        return Replaced((), gone)
    entries = entries_of(thread, wanted)
    return Replaced([_told(entry, touched.get(entry.item)) for entry in entries], gone)


def _key(fact: Fact) -> str | None:
    key = fact.payload.get("item") if fact.type in ITEM_TYPES else None
    return key if isinstance(key, str) else None


def _recent(thread: AgentThread, keys: set[str], before: int) -> set[str]:
    return keys_before(thread, before, LOOK_BACK) if keys else set()


def _redacted(thread: AgentThread, redactions: Iterable[Fact]) -> tuple[dict[str, int], list[str]]:
    """Which messages say less since which fact, and the lines that are no more."""
    touched: dict[str, int] = {}
    gone: list[str] = []
    for redaction in redactions:
        id_ = str(redaction.payload.get("message_id"))
        touched[id_] = redaction.seq
        for fact in facts_naming(thread.id, id_):
            touched |= dict.fromkeys(_keys_of(fact, id_), redaction.seq)
            if fact.type == FactType.INPUT_RECEIVED and fact.erased:
                gone.append(f"f{fact.seq}")
    return touched, gone


def _keys_of(fact: Fact, message_id: str) -> Iterable[str]:
    """The keys under which a fact puts the message into the history."""
    if key := _key(fact):
        yield key
    if fact.type == FactType.CONTEXT_REPLACED:
        for entry in fact.payload.get("items") or ():
            inline = entry.get("message")
            if isinstance(inline, dict) and inline.get("id") == message_id:
                yield entry["item"]


def _told(entry: Entry, seq: int | None) -> Entry:
    """A redacted message has changed, though no newer fact holds it."""
    if seq is None:
        return entry
    return replace(entry, changed_seq=max(seq, entry.changed_seq or 0))
