"""From entries and facts in order to the elements of a conversation: calls get their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import ITEM_TYPES, FactType
from agentadmin.engine.messages.blocks import ToolUseBlock
from runs_app.pages.blocks import CALLS, RESULTS, raw_blocks, shown_blocks
from runs_app.pages.items import Call, Item, Message, TurnHead
from runs_app.pages.marks import mark_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentadmin.engine.journal.facts import Fact
    from runs_app.models import Interaction, Turn
    from sessions_app.selectors.transcript import Entry

_HUMAN = "USER"
CALL_TYPES = (
    FactType.TOOL_DECISION,
    FactType.TOOL_DISPATCH,
    FactType.INTERACTION_REQUESTED,
    FactType.INTERACTION_RESOLVED,
)
MARK_TYPES = (
    FactType.CONTEXT_REPLACED,
    FactType.BASELINE,
    FactType.RECOVERY_APPLIED,
    FactType.PERMISSION_CHANGED,
    FactType.RUN_START,
    FactType.RUN_END,
    FactType.TURN_SUSPENDED,
    FactType.TURN_RESUMED,
    FactType.TURN_COMPLETED,
    FactType.TURN_FAILED,
    FactType.TURN_CANCELLED,
)
SCANNED = (*CALL_TYPES, *MARK_TYPES)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the scan needs beside the journal: turns with their numbers, open questions."""

    turns: Mapping[str, tuple[int, Turn]]
    pending: Mapping[str, Interaction]
    uncertain: frozenset[str]
    agent: str
    person: str


@dataclass(slots=True)
class Scan:
    """Walks entries and facts in seq order."""

    about: Surroundings
    items: list[Item] = field(default_factory=list)
    open: dict[str, Call] = field(default_factory=dict)
    asked: dict[str, Call] = field(default_factory=dict)
    heads: dict[str, TurnHead] = field(default_factory=dict)

    def run(self, entries: Sequence[Entry], facts: Iterable[Fact]) -> list[Item]:
        """Everything in order; `facts` are those that are no messages."""
        steps: list[tuple[int, Callable[[], None]]] = []
        for entry in entries:
            steps.append((entry.seq, _bound(self._entry, entry)))
        for fact in facts:
            if fact.type not in ITEM_TYPES:
                steps.append((fact.seq, _bound(self._fact, fact)))
        for _, step in sorted(steps, key=lambda pair: pair[0]):
            step()
        return self.items

    # --- Entries --------------------------------------------------------------------------------

    def _entry(self, entry: Entry) -> None:
        touched = entry.changed_seq or entry.seq
        self._head(entry.turn_id, entry.run_id, entry.seq, touched)
        blocks = raw_blocks(entry.message)
        unmatched = [b for b in blocks if b.get("type") in RESULTS and not self._result(b, entry)]
        kept = [b for b in blocks if b.get("type") not in RESULTS]
        shown = list(shown_blocks([*kept, *_orphans(unmatched)]))
        role = str(entry.message.get("role") or "").upper()
        if shown:
            by = self._by(entry.message, role)
            changed = entry.changed_seq is not None
            self.items.append(
                Message(entry.seq, touched, entry.at, by, role, shown, changed, entry.in_context)
            )
        for index, block in enumerate(b for b in kept if b.get("type") in CALLS):
            self._call(entry, index, block, touched)

    def _by(self, message: Mapping[str, Any], role: str) -> str:
        name = str(message.get("name") or "")
        if role != _HUMAN:
            return name or (self.about.agent if role == "ASSISTANT" else role.lower())
        if name and name.lower() != "user":
            return name
        return self.about.person

    def _call(self, entry: Entry, index: int, block: dict[str, Any], touched: int) -> None:
        use = ToolUseBlock(block)
        cut = str(use.content or "") if use.truncated else ""
        call = Call(
            entry.seq, index, touched, entry.at, use.id, use.name, use.input, use.state, cut
        )
        call.pending = self.about.pending.get(use.id)
        call.uncertain = use.id in self.about.uncertain
        self.open[use.id] = call
        self.items.append(call)

    def _result(self, block: dict[str, Any], entry: Entry) -> bool:
        call = self.open.get(str(block.get("id") or ""))
        if call is None:
            return False
        call.settle(block, entry.at, entry.changed_seq or entry.seq)
        return True

    # --- Facts ----------------------------------------------------------------------------------

    def _fact(self, fact: Fact) -> None:
        self._head(fact.turn_id, fact.run_id, fact.seq, fact.seq)
        told = fact.payload
        if fact.type in CALL_TYPES:
            self._about_call(fact, told)
        elif (mark := mark_of(fact)) is not None:
            self.items.append(mark)

    def _about_call(self, fact: Fact, told: dict[str, Any]) -> None:
        call = self.open.get(str(told.get("call_id") or "")) or self.asked.get(
            str(told.get("interaction_id") or "")
        )
        if call is None:
            return
        call.touched = max(call.touched, fact.seq)
        if fact.type == FactType.TOOL_DECISION:
            call.decision = told
        elif fact.type == FactType.TOOL_DISPATCH:
            call.dispatched_at, call.effect = fact.occurred_at, str(told.get("effect") or "")
        elif fact.type == FactType.INTERACTION_REQUESTED:
            call.asked, call.asked_at = told, fact.occurred_at
            self.asked[str(told.get("interaction_id") or "")] = call
        else:
            call.resolved, call.resolved_at = told, fact.occurred_at

    def _head(self, turn_id: str | None, run_id: str | None, seq: int, touched: int) -> None:
        """The turn's head, before its first element on this page."""
        known = self.about.turns.get(turn_id or "")
        if known is None or turn_id is None:
            return
        head = self.heads.get(turn_id)
        if head is None:
            number, turn = known
            head = self.heads[turn_id] = TurnHead(seq, touched, number, turn)
            self.items.append(head)
        head.touched = max(head.touched, touched)
        head.run_id = run_id or head.run_id


def _orphans(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results whose call is not on this page, shown as what they are."""
    return [{**block, "type": f"result of {block.get('name') or 'a call'}"} for block in results]


def _bound[T](method: Callable[[T], None], value: T) -> Callable[[], None]:
    return lambda: method(value)
