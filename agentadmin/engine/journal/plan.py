"""One batch before it is committed: sealed facts, the items they lead to, the new snapshot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.journal.base import SnapshotDraft
from agentadmin.engine.journal.changes import entry_message
from agentadmin.engine.journal.facts import ITEM_TYPES, Fact, FactType, SealedFact
from agentadmin.engine.journal.projection import Item, ThreadProjection, digest, entry_seqs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.messages import Msg


@dataclass(slots=True)
class Planned:
    """The working context after a batch; `fresh` maps new items to their place in the batch."""

    items: dict[str, Item]
    fresh: list[tuple[Item, int]]

    def settle(self, first_seq: int) -> None:
        """Give new items the seqs that the commit got."""
        for item, index in self.fresh:
            item.seq = first_seq + index


def plan_items(
    projection: ThreadProjection,
    sealed: Sequence[SealedFact],
    placed: Mapping[str, Msg],
    left: Sequence[Item] = (),
) -> Planned:
    """The items after `sealed`, where `placed` holds the message of every item put by it.

    `left` are items outside of the working context that a replacement may bring back.
    """
    planned = Planned(dict(projection.items), [])
    for index, fact in enumerate(sealed):
        if fact.type in ITEM_TYPES:
            key = fact.payload["item"]
            _place(planned, key, placed[key], _commit(projection, sealed, index), index)
        elif fact.type == FactType.CONTEXT_REPLACED:
            _replace(planned, fact, index, left)
    return planned


def _place(planned: Planned, key: str, msg: Msg, commit: bytes, index: int) -> Item:
    item = Item(key, 0, msg, commit, estimate(msg))
    planned.items[key] = item
    planned.fresh.append((item, index))
    return item


def _commit(projection: ThreadProjection, sealed: Sequence[SealedFact], index: int) -> bytes:
    """An item's commitment: its own fact's, joined with that of the input it refers to."""
    fact = sealed[index]
    source = fact.payload.get("input")
    if source is None:
        return fact.commit
    start: SealedFact | Fact = (
        projection.source(source["seq"]) if "seq" in source else sealed[index - source["back"]]
    )
    return hashlib.sha256(fact.commit + start.commit).digest()


def _replace(planned: Planned, fact: SealedFact, index: int, left: Sequence[Item]) -> None:
    by_seq = {item.seq: item for item in (*left, *planned.items.values()) if not item.inline}
    planned.items = {}
    for position, entry in enumerate(fact.payload["items"]):
        if "message" in entry:
            commit = hashlib.sha256(fact.commit + position.to_bytes(8)).digest()
            _place(planned, entry["item"], entry_message(entry), commit, index).inline = True
        else:
            for seq in entry_seqs(entry):
                planned.items[by_seq[seq].key] = by_seq[seq]


def draft(
    projection: ThreadProjection,
    planned: Planned,
    sealed: Sequence[SealedFact],
    substate: Substate,
    *,
    reason: str,
    actor: str,
) -> SnapshotDraft:
    """The snapshot row of the version that this batch makes."""
    replaced = [i for i, fact in enumerate(sealed) if fact.type == FactType.CONTEXT_REPLACED]
    return SnapshotDraft(
        substate=substate.text,
        salt=substate.salt,
        substate_commit=substate.commit,
        replaced=projection.replaced_seq,
        replaced_in_batch=replaced[-1] if replaced else None,
        digest=digest(projection.version + 1, substate.commit, planned.items.values()),
        reason=reason,
        actor=actor,
        messages=len(planned.items),
        tokens=sum(item.tokens for item in planned.items.values()),
    )


@dataclass(frozen=True, slots=True)
class Substate:
    """Everything of a state but its messages; `text` is None when it did not change."""

    value: dict[str, Any]
    text: str | None
    salt: bytes
    commit: bytes
