"""What a run is admitted with, and what it ended as."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.projection import OpenInteraction
    from agentadmin.engine.messages import Msg

type Kind = Literal["new", "resume", "takeover", "direct"]


class RunStatus(StrEnum):
    """How a run ended (contract §3); `lost` is written by its successor."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SUSPENDED = "suspended"
    LOST = "lost"


class Outcome(StrEnum):
    """How a turn ended, where it was not cancelled (contract §3)."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    MAX_ITERATIONS = "max_iterations"
    ALL_DENIED = "all_denied"
    STOPPED = "stopped"
    ERROR = "error"
    POISON = "poison"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person decided about one call; `recorded` when its fact is in the journal already."""

    call_id: str
    decision: Literal["approve", "deny", "answer", "cancelled", "expired"]
    interaction_id: str | None = None
    kind: str = "approval"
    call_hash: str | None = None
    reason: str | None = None
    answer: Any = None
    rules: Sequence[dict[str, Any]] = ()
    input: dict[str, Any] | None = None
    by: dict[str, Any] | None = None
    recorded: bool = True

    @classmethod
    def of(cls, interaction: OpenInteraction) -> Answer:
        """The answer that the journal holds for an interaction."""
        request, resolved = interaction.request, interaction.resolved or {}
        return cls(
            call_id=request["call_id"],
            decision=resolved.get("decision", "cancelled"),
            interaction_id=interaction.id,
            kind=request.get("kind", "approval"),
            call_hash=request.get("call_hash"),
            reason=resolved.get("reason"),
            answer=resolved.get("answer"),
            rules=tuple(resolved.get("rules") or ()),
            input=resolved.get("input"),
            by=resolved.get("by"),
        )


@dataclass(frozen=True, slots=True)
class Admission:
    """One run of one turn.

    new: the turn's first run, its input stands in the `turn/start` at `start_seq`. resume: after a
    wait; without `answers` those of the journal are taken. takeover: after a lost run
    (`lost_run`) or a shutdown. direct: a call of the engine that writes its own `turn/start`.
    """

    turn_id: str
    kind: Kind = "new"
    start_seq: int | None = None
    input: Sequence[Msg] = ()
    answers: Sequence[Answer] = ()
    run_id: str | None = None
    attempt: int = 1
    lost_run: str | None = None
    worker: str = ""
    agent: dict[str, Any] | None = None
    request_id: str | None = None
    by: dict[str, Any] | None = None

    @property
    def why(self) -> str:
        """The reason that `run/start` carries."""
        return {"new": "admitted", "resume": "resumed"}.get(self.kind, self.kind)


@dataclass(slots=True)
class Usage:
    """Tokens of a run, summed over its model calls."""

    input: int = 0
    output: int = 0
    calls: int = 0

    def to_dict(self) -> dict[str, int]:
        return {"input": self.input, "output": self.output, "calls": self.calls}


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run ended as; `turn_state` is the turn's state after it (contract §3)."""

    status: RunStatus
    turn_state: str
    outcome: Outcome | None = None
    wait: dict[str, Any] | None = None
    reply: Msg | None = None
    error: Exception | None = None
    usage: Usage = field(default_factory=Usage)
    released: bool = False
