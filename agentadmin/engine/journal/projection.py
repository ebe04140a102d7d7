"""The fold: facts in, the thread's working state out (design §4, spec §8.6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.errors import StateUnreadable
from agentadmin.engine.journal.facts import (
    ITEM_TYPES,
    REMOVED,
    SUBSTATE_FACTS,
    TURN_ENDS,
    Fact,
    FactType,
)
from agentadmin.engine.messages import Msg, ToolResultBlock
from agentadmin.engine.state.agent_state import AgentState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentadmin.engine.journal.base import ThreadRef

DIGEST_DOMAIN = b"agentadmin.state.1"

PROJECTED_TYPES = frozenset(
    {
        *ITEM_TYPES,
        *SUBSTATE_FACTS,
        *TURN_ENDS,
        FactType.TURN_START,
        FactType.TURN_RESUMED,
        FactType.INPUT_RECEIVED,
        FactType.INPUT_APPLIED,
        FactType.CONTEXT_REPLACED,
        FactType.STATE_CHANGED,
        FactType.BASELINE,
        FactType.TOOL_DISPATCH,
        FactType.INTERACTION_REQUESTED,
        FactType.INTERACTION_RESOLVED,
    }
)
"""The fact types that the fold reads; the others only tell what happened."""


@dataclass(slots=True)
class Item:
    """One message of the working context, and the commitment it rests on."""

    key: str
    seq: int
    msg: Msg
    commit: bytes
    tokens: int
    inline: bool = False
    """Written inside a `context/replaced`, so its seq alone does not name it."""


@dataclass(frozen=True, slots=True)
class OpenDispatch:
    """A tool call that was started and has no committed result."""

    call_id: str
    tool: str
    effect: str
    run_id: str | None
    turn_id: str | None
    seq: int


@dataclass(slots=True)
class OpenInteraction:
    """A question to a person; `resolved` holds the answer until a run has taken it."""

    id: str
    seq: int
    turn_id: str | None
    run_id: str | None
    request: dict[str, Any]
    resolved: dict[str, Any] | None = None


@dataclass(slots=True)
class ThreadProjection:
    """A thread as its facts up to `seq` tell it. Apply facts strictly in order."""

    ref: ThreadRef
    seq: int = 0
    version: int = 0
    replaced_seq: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    substate: dict[str, Any] = field(default_factory=dict)
    substate_commit: bytes = b""
    dispatches: dict[str, OpenDispatch] = field(default_factory=dict)
    interactions: dict[str, OpenInteraction] = field(default_factory=dict)
    inputs: dict[int, Fact] = field(default_factory=dict)
    """`turn/start` facts of turns that have not ended, by seq: they hold the users' text."""
    steering: dict[int, Fact] = field(default_factory=dict)
    """`input/received` facts of turns that have not ended, by seq."""
    unread: set[int] = field(default_factory=set)
    """Those of them that no run has taken."""

    @property
    def uncertain(self) -> dict[str, OpenDispatch]:
        """Started calls with effects outside, whose outcome nobody committed."""
        return {k: d for k, d in self.dispatches.items() if d.effect == "external"}

    @property
    def pending(self) -> list[OpenInteraction]:
        """Questions that nobody has answered yet."""
        return [i for i in self.interactions.values() if i.resolved is None]

    def source(self, seq: int) -> Fact:
        """The fact of an open turn that holds what somebody wrote."""
        found = self.inputs.get(seq) or self.steering.get(seq)
        if found is None:
            raise StateUnreadable(f"The journal refers to input {seq}, which is missing.")
        return found

    def adopt(self, facts: Iterable[Fact]) -> None:
        """Take in facts of open turns that stand before the snapshot that was read."""
        for fact in facts:
            if fact.seq not in self.inputs and fact.seq not in self.steering:
                self._apply_progress(fact)

    @property
    def tokens(self) -> int:
        """Estimated tokens of the working context."""
        return sum(item.tokens for item in self.items.values())

    def messages(self) -> list[Msg]:
        """The working context, oldest first."""
        return [item.msg for item in self.items.values()]

    def state(self) -> AgentState:
        """A detached AgentState; changing it changes nothing here."""
        if not self.substate:
            key = self.ref.key
            fresh = AgentState.new(key.session_id, key.user_id, key.thread_id)
            fresh.context_mutable().extend(self.messages())
            return fresh
        return AgentState.from_parts(self.substate, self.messages())

    def apply(self, fact: Fact, known: Mapping[int, Fact]) -> None:
        """Fold one fact in. `known` holds the earlier facts that it refers to, by seq."""
        self.seq = fact.seq
        if fact.type in ITEM_TYPES:
            self._put(item_of(fact, known))
        elif fact.type == FactType.CONTEXT_REPLACED:
            self.replaced_seq = fact.seq
            self.items = {item.key: item for item in _replacement(fact, known)}
        elif fact.type == FactType.BASELINE:
            self.substate = fact.payload["substate"]
        elif fact.type in SUBSTATE_FACTS or fact.type == FactType.STATE_CHANGED:
            self.substate = _changed(self.substate, fact.payload)
        else:
            self._apply_progress(fact)

    def _put(self, item: Item) -> None:
        """Upsert in place: a later item fact with the same key keeps the earlier one's position."""
        self.items[item.key] = item
        self._settle(item.msg)

    def _settle(self, msg: Msg) -> None:
        for block in msg.content:
            if isinstance(block, ToolResultBlock) and block.state != "running":
                self.dispatches.pop(block.id, None)

    def advance(self, facts: Iterable[Fact], items: dict[str, Item]) -> None:
        """Fold in facts whose resulting items the writer already knows."""
        fresh = {item.seq: item for item in items.values()}
        for fact in facts:
            self.seq = fact.seq
            if fact.type in ITEM_TYPES and fact.seq in fresh:
                self._settle(fresh[fact.seq].msg)
            elif fact.type == FactType.CONTEXT_REPLACED:
                self.replaced_seq = fact.seq
            else:
                self._apply_progress(fact)
        self.items = items

    def _apply_progress(self, fact: Fact) -> None:
        if fact.type == FactType.TURN_START:
            self.inputs[fact.seq] = fact
        elif fact.type == FactType.TOOL_DISPATCH:
            self._dispatched(fact)
        elif fact.type == FactType.INTERACTION_REQUESTED:
            id_ = fact.payload["interaction_id"]
            self.interactions[id_] = OpenInteraction(
                id_, fact.seq, fact.turn_id, fact.run_id, fact.payload
            )
        elif fact.type == FactType.INTERACTION_RESOLVED:
            asked = self.interactions.get(fact.payload["interaction_id"])
            if asked is not None:
                asked.resolved = fact.payload
        elif fact.type == FactType.INPUT_RECEIVED:
            self.steering[fact.seq] = fact
            self.unread.add(fact.seq)
        elif fact.type == FactType.INPUT_APPLIED:
            self.unread.discard(fact.payload["seq"])
        elif fact.type == FactType.TURN_RESUMED and fact.run_id is not None:
            # Without a run it only lets a paused turn go on; the answers are still to be taken.
            self._drop_interactions([i for i in self.interactions.values() if i.resolved])
        elif fact.type in TURN_ENDS:
            self._end_turn(fact.turn_id)

    def _dispatched(self, fact: Fact) -> None:
        payload = fact.payload
        self.dispatches[payload["call_id"]] = OpenDispatch(
            payload["call_id"],
            payload["tool"],
            payload["effect"],
            fact.run_id,
            fact.turn_id,
            fact.seq,
        )

    def _drop_interactions(self, gone: Iterable[OpenInteraction]) -> None:
        for interaction in gone:
            del self.interactions[interaction.id]

    def _end_turn(self, turn_id: str | None) -> None:
        for seq in [s for s, f in self.inputs.items() if f.turn_id == turn_id]:
            del self.inputs[seq]
        for seq in [s for s, f in self.steering.items() if f.turn_id == turn_id]:
            del self.steering[seq]
            self.unread.discard(seq)
        self._drop_interactions([i for i in self.interactions.values() if i.turn_id == turn_id])


def _changed(substate: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    gone = (*payload.get(REMOVED, ()), REMOVED)
    return {k: v for k, v in {**substate, **payload}.items() if k not in gone}


def input_seq(fact: Fact) -> int | None:
    """The seq of the `turn/start` that a `message/user` refers to, or None when it is inline."""
    source = fact.payload.get("input")
    if not isinstance(source, dict):
        return None
    return int(source["seq"]) if "seq" in source else fact.seq - int(source["back"])


def item_of(fact: Fact, known: Mapping[int, Fact]) -> Item:
    """The context item that an item fact stands for."""
    source = input_seq(fact)
    if source is None:
        return _item(fact.payload["item"], fact.seq, fact.payload["message"], fact.commit)
    start = _known(known, source)
    raw = start.payload["input"][fact.payload["input"]["index"]]
    commit = hashlib.sha256(fact.commit + start.commit).digest()
    return _item(fact.payload["item"], fact.seq, raw, commit)


def _item(key: str, seq: int, raw: dict[str, Any], commit: bytes) -> Item:
    msg = Msg(raw)
    return Item(key, seq, msg, commit, estimate(msg))


def _replacement(fact: Fact, known: Mapping[int, Fact]) -> Iterable[Item]:
    for index, entry in enumerate(fact.payload["items"]):
        if "message" in entry:
            commit = hashlib.sha256(fact.commit + index.to_bytes(8)).digest()
            item = _item(entry["item"], fact.seq, entry["message"], commit)
            item.inline = True
            yield item
        else:
            for seq in entry_seqs(entry):
                yield item_of(_known(known, seq), known)


def entry_seqs(entry: Mapping[str, Any]) -> range:
    """The seqs that one reference of `context/replaced` names."""
    if "seq" in entry:
        return range(entry["seq"], entry["seq"] + 1)
    return range(entry.get("from", 1), entry.get("to", 0) + 1)


def _known(known: Mapping[int, Fact], seq: int) -> Fact:
    try:
        return known[seq]
    except KeyError:
        raise StateUnreadable(f"The journal refers to fact {seq}, which is missing.") from None


def digest(version: int, substate_commit: bytes, items: Iterable[Item]) -> bytes:
    """SHA-256 over commitments only (design §3): valid before and after an erasure."""
    running = hashlib.sha256(DIGEST_DOMAIN + version.to_bytes(8) + substate_commit)
    for item in items:
        running.update(item.commit)
    return running.digest()
