"""From entries and facts in order to the elements of a conversation: calls get their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import PARTIAL
from agentadmin.engine.journal.facts import ITEM_TYPES, TURN_ENDS, FactType
from agentadmin.engine.messages.blocks import ToolUseBlock
from agentadmin.engine.state.redaction import is_redacted
from runs_app.pages.blocks import CALLS, RESULTS, raw_blocks, shown_block
from runs_app.pages.imported import own_time
from runs_app.pages.items import Call, Item, Mark, Message, TurnHead
from runs_app.pages.marks import mark_of, mark_read, mark_unread, told_mark, unreadable_mark
from sessions_app.journal.unreadable import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentadmin.engine.journal.facts import Fact
    from runs_app.models import Interaction, Turn
    from runs_app.pages.blocks import Shown
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
    FactType.TURN_PAUSED,
    FactType.TURN_RESUMED,
    FactType.TURN_COMPLETED,
    FactType.TURN_FAILED,
    FactType.TURN_CANCELLED,
)
STEERING_TYPES = (FactType.INPUT_RECEIVED, FactType.INPUT_APPLIED)
SCANNED = (*CALL_TYPES, *MARK_TYPES, *STEERING_TYPES)


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
    told: dict[int, tuple[Fact, Mark]] = field(default_factory=dict)

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
        shown: list[Shown] = []
        parts = calls = 0
        for block in raw_blocks(entry.message):
            kind = block.get("type")
            if kind in CALLS:
                parts += self._message(entry, shown, touched, parts)
                self._call(entry, calls, block, touched)
                shown, calls = [], calls + 1
            elif kind not in RESULTS:
                shown.append(shown_block(block))
            elif not self._result(block, entry):
                shown.append(shown_block(_orphan(block)))
        self._message(entry, shown, touched, parts)

    def _message(self, entry: Entry, shown: list[Shown], touched: int, part: int) -> bool:
        """What a message says between its calls; False when that is nothing."""
        if shown:
            self.items.append(self._shown(entry, shown, touched, part))
        return bool(shown)

    def _shown(self, entry: Entry, shown: list[Shown], touched: int, part: int) -> Message:
        role = str(entry.message.get("role") or "").upper()
        return Message(
            seq=entry.seq,
            touched=touched,
            at=entry.at,
            by=self._by(entry.message, role),
            role=role,
            blocks=shown,
            changed=entry.changed_seq is not None,
            in_context=entry.in_context,
            message_id=_id_of(entry),
            redacted=is_redacted(entry.message),
            cut=_cut(entry.message),
            own=own_time(entry),
            part=part,
        )

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
        call.message_id = _id_of(entry)
        call.own = own_time(entry, block)
        call.pending = self.about.pending.get(use.id)
        call.uncertain = use.id in self.about.uncertain
        self.open[use.id] = call
        self.items.append(call)

    def _result(self, block: dict[str, Any], entry: Entry) -> bool:
        call = self.open.get(str(block.get("id") or ""))
        if call is None:
            return False
        call.settle(block, entry.at, entry.changed_seq or entry.seq)
        call.result_id = _id_of(entry)
        return True

    # --- Facts ----------------------------------------------------------------------------------

    def _fact(self, fact: Fact) -> None:
        self._head(fact.turn_id, fact.run_id, fact.seq, fact.seq)
        told = fact.payload
        if UNREADABLE in told:
            self.items.append(unreadable_mark(fact))
            return
        if fact.type in CALL_TYPES:
            self._about_call(fact, told)
            return
        if fact.type in STEERING_TYPES and not fact.erased:
            self._steering(fact)
        if fact.type in TURN_ENDS:
            self._end_steering(fact)
        if (mark := mark_of(fact)) is not None:
            self.items.append(mark)

    def _steering(self, fact: Fact) -> None:
        if fact.type == FactType.INPUT_RECEIVED:
            mark = told_mark(fact)
            self.told[fact.seq] = (fact, mark)
            self.items.append(mark)
        elif known := self.told.pop(fact.payload.get("seq") or 0, None):
            mark_read(known[1], known[0], fact.seq)

    def _end_steering(self, fact: Fact) -> None:
        """What the turn has not read by now it never will."""
        for seq, (told, mark) in list(self.told.items()):
            if told.turn_id == fact.turn_id:
                mark_unread(mark, told, fact.seq)
                del self.told[seq]

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


_CUTS = {"interrupt": "an interrupt", "shutdown": "the worker's shutdown"}


def _cut(message: Mapping[str, Any]) -> str:
    """What cut this answer off, in words; empty for a whole one."""
    known = message.get("metadata")
    cut = known.get(PARTIAL) if isinstance(known, dict) else None
    return _CUTS.get(str(cut), "a lost call") if cut else ""


def _orphan(result: dict[str, Any]) -> dict[str, Any]:
    """A result whose call is not on this page, shown as what it is."""
    return {**result, "type": f"result of {result.get('name') or 'a call'}"}


def _bound[T](method: Callable[[T], None], value: T) -> Callable[[], None]:
    return lambda: method(value)


def _id_of(entry: Entry) -> str:
    """The message's own id; one without cannot be named."""
    id_ = entry.message.get("id")
    return id_ if isinstance(id_, str) else ""
