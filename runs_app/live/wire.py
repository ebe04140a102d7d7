"""The names and forms of live events: stream keys, entry ids, event JSON (contract §3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso
from agentadmin.engine.state import codec
from runs_app.cursors import Position

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.engine.journal.facts import Fact

FLEET_CHANNEL = "aa:fleet"
EVENT = b"e"
TYPE = b"t"

FACT_LIMIT = 32 * 1024
"""Longer facts are named in the stream and read from the database: Redis stays small."""


def stream_key(thread_id: str) -> str:
    """The Redis key of a thread's stream; the braces keep a thread on one node of a cluster."""
    return f"aa:stream:{{{thread_id}}}"


def parse_entry_id(raw: bytes) -> Position:
    """The place that a stream entry's id names."""
    seq, _, n = raw.partition(b"-")
    return Position(int(seq), int(n))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a thread's stream; `text` is None where the database holds the event."""

    at: Position
    type: str
    text: str | None

    @property
    def is_fact(self) -> bool:
        return self.at.n == 0

    def fields(self) -> dict[Any, Any]:
        """The entry as Redis stores it."""
        fields = {TYPE: self.type}
        return fields if self.text is None else {**fields, EVENT: self.text}

    @classmethod
    def read(cls, raw_id: bytes, fields: Mapping[bytes, bytes]) -> Entry:
        """The entry as it comes out of Redis."""
        text = fields.get(EVENT)
        return cls(
            parse_entry_id(raw_id),
            fields.get(TYPE, b"").decode(),
            None if text is None else text.decode(),
        )


def fact_event(thread_id: str, fact: Fact) -> dict[str, Any]:
    """A committed fact as a live event."""
    return {
        "id": f"{thread_id}-{fact.seq}",
        "seq": fact.seq,
        "type": str(fact.type),
        "thread_id": thread_id,
        "turn_id": fact.turn_id,
        "run_id": fact.run_id,
        "step_id": fact.step_id,
        "at": iso(fact.occurred_at),
        "data": fact.payload,
    }


def fact_entry(thread_id: str, fact: Fact) -> Entry:
    """A fact with its event's text, however long."""
    text = codec.dumps(fact_event(thread_id, fact), levels=codec.WRAPPED)
    return Entry(Position(fact.seq), str(fact.type), text)
