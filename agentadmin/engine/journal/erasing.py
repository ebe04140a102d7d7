"""What is left of a fact once its content is erased: ids, order and outcomes, no words.

A tombstone folds like the fact it stands for, so every later version can still be rebuilt; digests
are taken over commitments, which stay (design §3, §9.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state.agent_state import AgentState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Payload = dict[str, Any]

ERASED = "erased"
"""The key in a message's metadata that says that its content was erased."""

_STRUCTURE = frozenset(
    {"item", "call_id", "interaction_id", "tool", "effect", "kind", "decision", "behavior"}
    | {"attempt", "worker", "agent", "why", "model", "model_call", "status", "outcome", "wait"}
    | {"control_id", "usage", "count", "tokens", "seq", "to"}
)
"""Keys whose values say how things went and never what was said."""


def bare(message: Mapping[str, Any]) -> Payload:
    """A message with its id and role and nothing else."""
    role = message.get("role", "user")
    return {
        "id": message.get("id"),
        "name": str(role),
        "role": role,
        "content": [],
        "metadata": {ERASED: True},
    }


def is_erased(message: Mapping[str, Any]) -> bool:
    """Whether only the tombstone of a message is left."""
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and metadata.get(ERASED) is True and not message["content"]


def blank_substates() -> Payload:
    """The substates of a state that says nothing."""
    return AgentState.new("", None).substates()


def tombstone(type_: str, payload: Mapping[str, Any]) -> Payload:
    """The payload that takes the place of an erased one; it tombstones to itself."""
    kept = {key: value for key, value in payload.items() if key in _STRUCTURE}
    empty = _EMPTY.get(type_)
    return kept if empty is None else kept | empty(payload)


def _turn_start(payload: Mapping[str, Any]) -> Payload:
    return {"request_id": None, "input": [bare(m) for m in payload.get("input", [])], "by": None}


def _item(payload: Mapping[str, Any]) -> Payload:
    if "message" in payload:
        return {"message": bare(payload["message"])}
    return {"input": payload["input"]}


def _requested(_: Mapping[str, Any]) -> Payload:
    return {"input": {}, "call_hash": "", "suggested_rules": [], "because": "", "message": ""}


def _resolved(_: Mapping[str, Any]) -> Payload:
    return {"by": None, "reason": None, "answer": None, "rules": [], "input": None}


def _replaced(payload: Mapping[str, Any]) -> Payload:
    entries = [
        {**entry, "message": bare(entry["message"])} if "message" in entry else entry
        for entry in payload.get("items", [])
    ]
    return {"reason": "", "items": entries}


def _substates(payload: Mapping[str, Any]) -> Payload:
    blank = blank_substates()
    return {name: blank[name] for name in payload if name in blank}


def _baseline(_: Mapping[str, Any]) -> Payload:
    return {"substate": blank_substates(), "source": "erased", "document": None}


def _repairs(payload: Mapping[str, Any]) -> Payload:
    kept = ("kind", "call_id", "message_id")
    repairs = payload.get("repairs", [])
    return {"repairs": [{k: r[k] for k in kept if k in r} | {"note": ""} for r in repairs]}


def _failed(payload: Mapping[str, Any]) -> Payload:
    error = payload.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return {"error": {"code": code, "detail": ""}}


def _ended(_: Mapping[str, Any]) -> Payload:
    return {"by": None, "reason": ""}


_EMPTY: dict[str, Callable[[Mapping[str, Any]], Payload]] = {
    FactType.TURN_START: _turn_start,
    FactType.INPUT_RECEIVED: _turn_start,
    FactType.MESSAGE_USER: _item,
    FactType.MESSAGE_ASSISTANT: _item,
    FactType.MESSAGE_SYSTEM: _item,
    FactType.TOOL_RESULT: _item,
    FactType.INTERACTION_REQUESTED: _requested,
    FactType.INTERACTION_RESOLVED: _resolved,
    FactType.CONTEXT_REPLACED: _replaced,
    FactType.PERMISSION_CHANGED: _substates,
    FactType.PLAN_CHANGED: _substates,
    FactType.TASK_CHANGED: _substates,
    FactType.STATE_CHANGED: _substates,
    FactType.BASELINE: _baseline,
    FactType.RECOVERY_APPLIED: _repairs,
    FactType.TURN_FAILED: _failed,
    FactType.TURN_CANCELLED: _ended,
    FactType.RUN_END: _ended,
}
