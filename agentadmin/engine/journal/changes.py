"""What a changed AgentState means as facts: appended, upserted, or replaced by reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import REMOVED, SUBSTATE_FACTS, FactType, NewFact
from agentadmin.engine.messages import Msg, ToolResultBlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentadmin.engine.journal.projection import Item

_FACT_OF_ROLE = {
    "USER": FactType.MESSAGE_USER,
    "ASSISTANT": FactType.MESSAGE_ASSISTANT,
    "SYSTEM": FactType.MESSAGE_SYSTEM,
    "TOOL": FactType.TOOL_RESULT,
}


@dataclass(frozen=True, slots=True)
class ContextChange:
    """How the working context moved: item facts to append, or a whole replacement."""

    puts: Sequence[tuple[str, Msg]] = ()
    replaced: Sequence[dict[str, Any]] | None = None

    def __bool__(self) -> bool:
        return bool(self.puts) or self.replaced is not None


def same(left: Msg, right: Msg) -> bool:
    """Whether two messages are equal, cheapest test first."""
    return left is right or left.raw is right.raw or left.raw == right.raw


def context_change(
    items: Sequence[Item], context: Sequence[Msg], left: Sequence[Item] = ()
) -> ContextChange:
    """Compare the committed items with the context as the loop left it.

    `left` are items that are no longer committed ones: those that come back are referred to.
    """
    if left and not _unchanged(items, context):
        return ContextChange(replaced=list(_replacement([*items, *left], context)))
    puts: list[tuple[str, Msg]] = []
    taken = {item.key for item in items}
    for index, msg in enumerate(context):
        if index < len(items):
            item = items[index]
            if same(item.msg, msg):
                continue
            if msg.id is None or msg.id != item.msg.id:
                return ContextChange(replaced=list(_replacement(items, context)))
            puts.append((item.key, msg))
        else:
            key = _free_key(msg, taken)
            taken.add(key)
            puts.append((key, msg))
    if len(context) < len(items):
        return ContextChange(replaced=list(_replacement(items, context)))
    return ContextChange(puts=puts)


def _unchanged(items: Sequence[Item], context: Sequence[Msg]) -> bool:
    pairs = zip(items, context, strict=False)
    return len(items) == len(context) and all(same(item.msg, msg) for item, msg in pairs)


def _free_key(msg: Msg, taken: set[str]) -> str:
    """The message's own id, or one that the journal gives when it is missing or taken."""
    if isinstance(msg.id, str) and msg.id and msg.id not in taken:
        return msg.id
    return f"~{new_id()}"


def _replacement(items: Sequence[Item], context: Sequence[Msg]) -> Iterator[dict[str, Any]]:
    """Kept messages by the seq of their last fact, new or changed ones inline."""
    by_object = {id(item.msg.raw): item for item in items}
    by_id = {item.msg.id: item for item in items if item.msg.id}
    taken: set[str] = set()
    for msg in context:
        item = by_object.get(id(msg.raw)) or (by_id.get(msg.id) if msg.id else None)
        if item is None or item.key in taken or not same(item.msg, msg):
            key = _free_key(msg, taken)
            taken.add(key)
            yield {"item": key, "message": msg.raw}
        elif item.inline:
            taken.add(item.key)
            yield {"item": item.key, "message": msg.raw}
        else:
            taken.add(item.key)
            yield {"seq": item.seq}


def entry_message(entry: dict[str, Any]) -> Msg:
    """The message written inline in an entry of `context/replaced`."""
    return Msg(entry["message"])


def compress(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write runs of consecutive seqs as `{from,to}`."""
    out: list[dict[str, Any]] = []
    for entry in entries:
        seq = entry.get("seq")
        last = out[-1] if out else {}
        if seq is not None and last.get("to", last.get("seq", seq)) == seq - 1 and last:
            out[-1] = {"from": last.get("from", last.get("seq")), "to": seq}
        else:
            out.append(entry)
    return out


def item_fact(key: str, msg: Msg, reference: dict[str, Any] | None) -> NewFact:
    """The fact that puts one message into the context, by reference to its input where given."""
    type_ = _FACT_OF_ROLE.get(str(msg.role), FactType.MESSAGE_USER)
    if reference is not None:
        return NewFact(type_, {"item": key, "input": reference})
    payload: dict[str, Any] = {"item": key, "message": msg.raw}
    if type_ == FactType.TOOL_RESULT:
        results = [block.id for block in msg.content if isinstance(block, ToolResultBlock)]
        payload["call_id"] = results[0] if results else None
    return NewFact(type_, payload)


def substate_facts(before: dict[str, Any], after: dict[str, Any]) -> Iterator[NewFact]:
    """One fact for each changed substate, and one `state/changed` for all other fields.

    Fields that are gone, as a restore or a patch may leave out, are named under `REMOVED`.
    """
    names = {name: type_ for type_, name in SUBSTATE_FACTS.items()}
    other: dict[str, Any] = {}
    for name, value in after.items():
        if name in before and before[name] == value:
            continue
        if name in names:
            yield NewFact(names[name], {name: value})
        else:
            other[name] = value
    if gone := [name for name in before if name not in after]:
        other[REMOVED] = gone
    if other:
        yield NewFact(FactType.STATE_CHANGED, other)
