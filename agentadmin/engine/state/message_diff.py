"""What happened to each message between two states: added, removed, changed, moved."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentadmin.engine.messages import Msg


class MessageFate(StrEnum):
    """What became of a message; one that changed may have moved too."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class MessageChange:
    """One message that differs, with its places in both states, counted from 0."""

    key: str
    fate: MessageFate
    before: Msg | None = None
    after: Msg | None = None
    before_index: int | None = None
    after_index: int | None = None
    moved: bool = False


def message_changes(before: Iterable[Msg], after: Iterable[Msg]) -> list[MessageChange]:
    """Every message that differs, in reading order; those that stay as they are have no entry."""
    old, new = keyed(before), keyed(after)
    was = {key: index for index, key in enumerate(old)}
    moved = moved_keys(was, new)
    found = [
        MessageChange(key, MessageFate.REMOVED, before=old[key], before_index=was[key])
        for key in old
        if key not in new
    ]
    for index, (key, message) in enumerate(new.items()):
        if key not in old:
            found.append(MessageChange(key, MessageFate.ADDED, after=message, after_index=index))
        elif message != old[key] or key in moved:
            fate = MessageFate.CHANGED if message != old[key] else MessageFate.MOVED
            found.append(
                MessageChange(key, fate, old[key], message, was[key], index, moved=key in moved)
            )
    return sorted(found, key=_place)


def message_summary(before: Sequence[Msg], after: Sequence[Msg]) -> dict[str, Any]:
    """The ids of what differs, by what became of them, and how many there were and are."""
    ids: dict[MessageFate, list[str]] = {fate: [] for fate in MessageFate}
    changes = message_changes(before, after)
    for change in sorted(changes, key=_index):
        ids[change.fate].append(change.key)
        if change.moved and change.fate is MessageFate.CHANGED:
            ids[MessageFate.MOVED].append(change.key)
    lists = {fate.value: keys for fate, keys in ids.items()}
    return {"before": len(before), "after": len(after), **lists}


def keyed(messages: Iterable[Msg]) -> dict[str, Msg]:
    """By id; one that is missing or taken gets its number among its like."""
    seen: Counter[str] = Counter()
    found: dict[str, Msg] = {}
    for message in messages:
        base = message.id or ""
        seen[base] += 1
        key = base if base and seen[base] == 1 else f"{base}#{seen[base]}"
        found[key] = message
    return found


def moved_keys(was: Mapping[str, int], now: Iterable[str]) -> set[str]:
    """The fewest keys that must move so that the common ones stand in the new order."""
    common = [key for key in now if key in was]
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, key in enumerate(common):
        length = bisect_left(tails, was[key])
        previous.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(was[key])
            ends.append(index)
        else:
            tails[length], ends[length] = was[key], index
    stays: set[str] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        stays.add(common[at])
        at = previous[at]
    return {key for key in common if key not in stays}


def _index(change: MessageChange) -> int:
    """Where it stands in the state that has it: removed ones in the old, others in the new."""
    index = change.after_index if change.after_index is not None else change.before_index
    return index or 0


def _place(change: MessageChange) -> tuple[int, bool]:
    return _index(change), change.after_index is not None
