"""Journal facts: what happened on a thread, in order, never changed (spec §8.3, design §4)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

SALT_BYTES = 16


class FactType(StrEnum):
    """Every fact type that this engine writes; imported journals may hold others."""

    TURN_START = "turn/start"
    TURN_SUSPENDED = "turn/suspended"
    TURN_RESUMED = "turn/resumed"
    TURN_PAUSED = "turn/paused"
    TURN_COMPLETED = "turn/completed"
    TURN_FAILED = "turn/failed"
    TURN_CANCELLED = "turn/cancelled"
    RUN_START = "run/start"
    RUN_END = "run/end"
    RUN_STOP_REQUESTED = "run/stop_requested"
    INPUT_RECEIVED = "input/received"
    INPUT_APPLIED = "input/applied"
    MESSAGE_USER = "message/user"
    MESSAGE_ASSISTANT = "message/assistant"
    MESSAGE_SYSTEM = "message/system"
    MESSAGE_REDACTED = "message/redacted"
    TOOL_DECISION = "tool/decision"
    TOOL_DISPATCH = "tool/dispatch"
    TOOL_RESULT = "tool/result"
    INTERACTION_REQUESTED = "interaction/requested"
    INTERACTION_RESOLVED = "interaction/resolved"
    REQUEST_PREPARED = "request/prepared"
    CONTEXT_REPLACED = "context/replaced"
    PERMISSION_CHANGED = "permission/changed"
    PLAN_CHANGED = "plan/changed"
    TASK_CHANGED = "task/changed"
    STATE_CHANGED = "state/changed"
    STATE_RESTORED = "state/restored"
    BASELINE = "migration/baseline"
    RECOVERY_APPLIED = "recovery/applied"


ITEM_TYPES = frozenset(
    {
        FactType.MESSAGE_USER,
        FactType.MESSAGE_ASSISTANT,
        FactType.MESSAGE_SYSTEM,
        FactType.TOOL_RESULT,
    }
)
"""Facts that put one message into the working context, upserted by their `item` key."""

SUBSTATE_FACTS = {
    FactType.PERMISSION_CHANGED: "permission_context",
    FactType.PLAN_CHANGED: "plan_mode_context",
    FactType.TASK_CHANGED: "tasks_context",
}
"""The substate (by wire name) that each of these facts replaces whole."""

REMOVED = "~removed"
"""In `state/changed`: the names of the fields that a state no longer has."""

TURN_ENDS = frozenset({FactType.TURN_COMPLETED, FactType.TURN_FAILED, FactType.TURN_CANCELLED})


@dataclass(frozen=True, slots=True)
class SealedFact:
    """A fact as it is stored: canonical text, its salt, and the commitment over both."""

    type: str
    payload: dict[str, Any]
    text: str
    salt: bytes
    commit: bytes
    turn_id: str | None
    run_id: str | None
    step_id: str | None
    required: bool


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact that has not been committed yet."""

    type: str
    payload: dict[str, Any] = field(default_factory=dict)
    turn_id: str | None = None
    run_id: str | None = None
    step_id: str | None = None
    required: bool = True

    def seal(self, salt: bytes | None = None) -> SealedFact:
        """Write the payload as canonical text and commit to it with a salt, fresh unless told.

        Proofs are taken over the commitment only, so erasing text and salt leaves them valid.
        """
        text = codec.dumps(self.payload)
        salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
        return SealedFact(
            self.type,
            self.payload,
            text,
            salt,
            bytes.fromhex(codec.commit_of(salt, text)),
            self.turn_id,
            self.run_id,
            self.step_id,
            self.required,
        )


def seal_all(facts: Sequence[NewFact]) -> list[SealedFact]:
    """Seal a batch, an import's thousands too, with one call for the salts of all of them."""
    salts = secrets.token_bytes(SALT_BYTES * len(facts))
    places = range(0, len(salts), SALT_BYTES)
    return [
        fact.seal(salts[place : place + SALT_BYTES])
        for fact, place in zip(facts, places, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Fact:
    """A committed fact; `payload` is empty and `erased` true when its text was erased."""

    seq: int
    type: str
    payload: dict[str, Any]
    turn_id: str | None
    run_id: str | None
    step_id: str | None
    required: bool
    occurred_at: datetime
    epoch: int
    commit: bytes
    erased: bool = False

    @classmethod
    def of(cls, sealed: SealedFact, *, seq: int, at: datetime, epoch: int) -> Fact:
        """The committed form of a sealed fact."""
        return cls(
            seq,
            sealed.type,
            sealed.payload,
            sealed.turn_id,
            sealed.run_id,
            sealed.step_id,
            sealed.required,
            at,
            epoch,
            sealed.commit,
        )
