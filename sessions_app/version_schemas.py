"""What the API takes and gives of versions: lists, comparisons, forks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentadmin.api_schemas import Answer, AnyJson, Body, Count, Json, Time, Uuid
from agentadmin.engine.clock import iso
from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.state.message_diff import MessageFate
from sessions_app.selectors.checkpoint_words import changes_of, title_of
from sessions_app.selectors.checkpoints import CheckpointKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.messages import Msg
    from agentadmin.engine.state.message_diff import MessageChange
    from sessions_app.selectors.checkpoints import Checkpoint
    from sessions_app.selectors.comparison import Comparison, Side

MOST_TOKENS = 1_000_000
"""What the messages of one comparison may come to; the others are named, not repeated."""


class ForkSession(Body):
    """A version of a thread as a session of its own; without `version` the newest one."""

    thread_id: str | None = None
    version: int | None = Field(default=None, ge=0)
    session_id: str | None = None
    reason: str | None = None
    request_id: str | None = None


class CheckpointItem(Answer):
    """A version of a state: who made it, when, why, what it changed and what it weighs."""

    version: int = Field(ge=1)
    seq: Count
    at: Time
    actor: str
    reason: str
    kind: CheckpointKind
    title: str
    changes: list[str]
    widened: list[str] = Field(description="In which ways it allowed more than the one before.")
    source_version: int | None = Field(description="The version that a restore brought back.")
    source: str | None = Field(description="The format of an import, or `fork`.")
    run_id: str | None
    turn_id: str | None
    messages: Count
    tokens: Count
    messages_delta: int
    tokens_delta: int
    bytes: int = Field(ge=0, description="What it made the journal grow by.")
    digest: str = Field(description="Over the commitments of its parts, in hexadecimal digits.")


class ComparedSide(Answer):
    """One of the two states that are compared; version 0 is a thread before its first state."""

    thread_id: Uuid
    version: Count
    seq: Count
    at: Time
    actor: str | None
    reason: str | None
    title: str | None


class ComparedMessage(Answer):
    """A message that differs; what is too long to repeat has neither `before` nor `after`."""

    id: str
    change: MessageFate
    moved: bool
    before_index: int | None
    after_index: int | None
    before: AnyJson
    after: AnyJson


class Compared(Answer):
    """Two states, and what is different: structurally, in sentences, message by message."""

    from_: ComparedSide = Field(alias="from")
    to: ComparedSide
    equal: bool
    diff: Json
    effects: list[str]
    messages: list[ComparedMessage]


def checkpoint_item(found: Checkpoint) -> dict[str, Any]:
    """A version as lists show it."""
    row = found.row
    return {
        "version": row.version,
        "seq": row.seq,
        "at": iso(row.created_at),
        "actor": row.actor,
        "reason": row.reason,
        "kind": found.kind,
        "title": title_of(found),
        "changes": changes_of(found),
        "widened": list(found.widened),
        "source_version": found.restored_version,
        "source": found.source,
        "run_id": found.run_id,
        "turn_id": found.turn_id,
        "messages": row.messages,
        "tokens": row.tokens,
        "messages_delta": found.messages_delta,
        "tokens_delta": found.tokens_delta,
        "bytes": found.octets,
        "digest": bytes(row.digest).hex(),
    }


def compared(found: Comparison) -> dict[str, Any]:
    """A comparison, whole."""
    return {
        "from": _side(found.before),
        "to": _side(found.after),
        "equal": not found.diff,
        "diff": found.diff,
        "effects": list(found.effects),
        "messages": _messages(found.messages),
    }


def _side(side: Side) -> dict[str, Any]:
    made = side.made
    return {
        "thread_id": str(side.thread.id),
        "version": side.version,
        "seq": side.found.seq,
        "at": iso(side.found.as_of),
        "actor": made.row.actor if made else None,
        "reason": made.row.reason if made else None,
        "title": side.title,
    }


def _messages(changes: Sequence[MessageChange]) -> list[dict[str, Any]]:
    found, tokens = [], 0
    for change in changes:
        tokens += sum(estimate(side) for side in (change.before, change.after) if side)
        told = {
            "id": change.key,
            "change": change.fate,
            "moved": change.moved,
            "before_index": change.before_index,
            "after_index": change.after_index,
        }
        if tokens <= MOST_TOKENS:
            told |= {"before": _raw(change.before), "after": _raw(change.after)}
        found.append(told)
    return found


def _raw(message: Msg | None) -> dict[str, Any] | None:
    return None if message is None else message.to_dict()
