"""Blocks that are being written: what the stream knows of them and no fact tells yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec
from runs_app.cursors import LATE, Position
from runs_app.live import streams
from sessions_app.journal.rows import read_facts
from sessions_app.models import JournalFact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from runs_app.live.wire import Entry

_BOUNDARIES = (FactType.MESSAGE_ASSISTANT, FactType.RUN_START, FactType.RUN_END)
"""What a run streamed before one of these, it has told in full."""
_SUFFIXES = ("_start", "_delta", "_data", "_end")
_RESULT = "tool_result"
MAX_PAGES = 20


@dataclass(slots=True)
class Block:
    """A block so far. `offset` is where its text begins: more than 0 if the stream was trimmed."""

    block: str
    kind: str
    run_id: str | None
    turn_id: str | None
    step_id: str | None
    first: Position
    data: dict[str, Any] = field(default_factory=dict)
    offset: int = 0
    text: str = ""
    ended: bool = False

    def write(self, offset: int, text: str) -> None:
        """Apply a delta, which may repeat what is there."""
        if not self.text:
            self.offset = offset
        self.text += text[max(0, self.offset + len(self.text) - offset) :]

    def to_dict(self) -> dict[str, Any]:
        """The block for a live view."""
        return {
            **self.data,
            "block": self.block,
            "type": self.kind,
            "run_id": self.run_id,
            "turn_id": self.turn_id,
            "step_id": self.step_id,
            "offset": self.offset,
            "text": self.text,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True)
class Running:
    """The unfinished blocks of a thread as of a fact, and the place up to which they are told."""

    blocks: list[Block]
    at: Position

    @property
    def before(self) -> Position:
        """The place before all of them, for a view that shows facts only."""
        if not self.blocks:
            return self.at
        first = min(block.first for block in self.blocks)
        return Position(first.seq, first.n - 1)


def running_blocks(thread_id: str, head_seq: int) -> Running:
    """The blocks that no fact up to the head has told; none while Redis does not answer."""
    boundary, is_running = _last_boundary(thread_id, head_seq)
    if not is_running:
        return Running([], Position(head_seq))
    end = Position(boundary)
    blocks: dict[str, Block] = {}
    for entry in _entries(thread_id, end, head_seq):
        end = entry.at
        if not entry.is_fact and entry.text is not None:
            _apply(blocks, entry.at, codec.loads(entry.text, levels=codec.WRAPPED))
    if end.seq < head_seq:
        # The database is ahead of the stream, whose next deltas will come with smaller ids.
        end = Position(head_seq, LATE)
    return Running(_untold(thread_id, blocks.values(), boundary, head_seq), end)


def _untold(thread_id: str, blocks: Collection[Block], after: int, through: int) -> list[Block]:
    """The blocks without those of tool calls whose result is committed."""
    if all(block.kind != _RESULT for block in blocks):
        return list(blocks)
    wanted = Q(thread_id=thread_id, seq__gt=after, seq__lte=through, type=FactType.TOOL_RESULT)
    told = {fact.payload.get("call_id") for fact in read_facts(wanted, 1000)}
    return [b for b in blocks if b.kind != _RESULT or b.data.get("call_id") not in told]


def is_told(thread_id: str, entry: Entry, through: int) -> bool:
    """Whether facts between a late delta and this one have told its block in full."""
    event = codec.loads(entry.text or "{}", levels=codec.WRAPPED)
    wanted = Q(thread_id=thread_id, seq__gt=entry.at.seq, seq__lte=through)
    facts = [f for f in read_facts(wanted, 1000) if f.run_id == event["run_id"]]
    if not entry.type.startswith(_RESULT):
        return any(fact.type in _BOUNDARIES for fact in facts)
    call_id = event["data"].get("call_id")
    return any(
        fact.type == FactType.RUN_END or fact.payload.get("call_id") == call_id
        for fact in facts
        if fact.type in {FactType.RUN_END, FactType.TOOL_RESULT}
    )


def _last_boundary(thread_id: str, head_seq: int) -> tuple[int, bool]:
    """The last fact behind which deltas may stand, and whether its run goes on."""
    facts = JournalFact.objects.filter(
        thread_id=UUID(thread_id), seq__lte=head_seq, type__in=_BOUNDARIES
    )
    seq, type_ = facts.order_by("-seq").values_list("seq", "type").first() or (0, "")
    return seq, type_ not in {"", FactType.RUN_END}


def _entries(thread_id: str, at: Position, head_seq: int) -> Iterable[Entry]:
    for _ in range(MAX_PAGES):
        page = streams.page_or_none(thread_id, at)
        for entry in page:
            if entry.at.seq > head_seq:
                return
            yield entry
        if not page:
            return
        at = page[-1].at


def _apply(blocks: dict[str, Block], at: Position, event: dict[str, Any]) -> None:
    data = dict(event["data"])
    name, offset, text = data.pop("block", None), data.pop("offset", 0), data.pop("delta", "")
    suffix = next((s for s in _SUFFIXES if event["type"].endswith(s)), None)
    if not isinstance(name, str) or suffix is None:
        return
    block = blocks.get(name)
    if block is None:
        kind = event["type"].removesuffix(suffix)
        ids = (event["run_id"], event["turn_id"], event["step_id"])
        block = blocks[name] = Block(name, kind, *ids, at)
    block.data |= data
    block.ended = suffix == "_end"
    if suffix == "_delta":
        block.write(offset, text)
