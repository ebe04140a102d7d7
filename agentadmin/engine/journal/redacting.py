"""What is left of a fact once one message in it is redacted; all else in the fact stays.

A redacted fact folds like the one it stands for. Digests are taken over commitments, which stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import Msg, ToolResultBlock, ToolUseBlock
from agentadmin.engine.state.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DEPTH = 6
"""How deep in a payload a message may stand: facts hold them at most four levels down."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """One message that has to go, and the calls that it made or answered."""

    message_id: str
    replacement: str
    calls: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    questions: frozenset[str] = frozenset()
    """Interactions about its calls: they repeat the arguments."""
    answers: frozenset[str] = frozenset()
    """Interactions whose answer is its result."""

    @classmethod
    def of(cls, message_id: str, replacement: str, payloads: Iterable[Any]) -> Redaction:
        """A redaction that knows the calls of every stored form of the message."""
        found = [Msg(raw) for payload in payloads for raw in messages_in(payload, message_id)]
        calls = (b.id for msg in found for b in msg.blocks(ToolUseBlock))
        results = (b.id for msg in found for b in msg.blocks(ToolResultBlock))
        return cls(message_id, replacement, frozenset(calls), frozenset(results))

    def asking(self, requests: Iterable[Mapping[str, Any]]) -> Redaction:
        """The same, knowing which of these requested interactions are about its calls."""
        known = [(each.get("call_id"), str(each.get("interaction_id"))) for each in requests]
        return replace(
            self,
            questions=frozenset(id_ for call_id, id_ in known if call_id in self.calls),
            answers=frozenset(id_ for call_id, id_ in known if call_id in self.results),
        )


def messages_in(value: Any, message_id: str, depth: int = DEPTH) -> Iterator[dict[str, Any]]:
    """Every raw message of this id in a payload."""
    if _is_message(value, message_id):
        yield value
    elif depth and isinstance(value, dict):
        for part in value.values():
            yield from messages_in(part, message_id, depth - 1)
    elif depth and isinstance(value, list):
        for part in value:
            yield from messages_in(part, message_id, depth - 1)


def scrubbed(type_: str, payload: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """The payload without the message's content, equal to the given one where it holds none."""
    kept: dict[str, Any] = {k: _without(v, redaction, DEPTH) for k, v in payload.items()}
    asked = kept.get("interaction_id")
    if type_ == FactType.INTERACTION_REQUESTED and asked in redaction.questions:
        kept |= {"input": {}, "suggested_rules": [], "message": redaction.replacement}
        kept |= {"choices": None} if "choices" in kept else {}
    if type_ == FactType.INTERACTION_RESOLVED:
        if asked in redaction.questions and kept.get("input") is not None:
            kept["input"] = {}
        if asked in redaction.answers and kept.get("answer") is not None:
            kept["answer"] = redaction.replacement
    return kept


def _without(value: Any, redaction: Redaction, depth: int) -> Any:
    if _is_message(value, redaction.message_id):
        return redacted(Msg(value), redaction.replacement).raw
    if depth and isinstance(value, dict):
        return {k: _without(part, redaction, depth - 1) for k, part in value.items()}
    if depth and isinstance(value, list):
        return [_without(part, redaction, depth - 1) for part in value]
    return value


def _is_message(value: Any, message_id: str) -> bool:
    return (
        isinstance(value, dict)
        and value.get("id") == message_id
        and "role" in value
        and "content" in value
    )
