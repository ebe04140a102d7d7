"""States of turns, runs and interactions, and the one transition table.

The journal's facts move a turn along `MOVES` and nothing else does; `COMMANDS` says what a person
may ask for in which state and, where not, why not. API errors, buttons and the diagram read both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentadmin.engine.agents.admission import Outcome
from agentadmin.engine.journal.facts import FactType

__all__ = [
    "Allowed",
    "Decision",
    "InteractionStatus",
    "Outcome",
    "RunStatus",
    "TurnCommand",
    "TurnState",
    "WaitKind",
]


class TurnState(StrEnum):
    """Contract §3: where a submitted task stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSING = "pausing"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class WaitKind(StrEnum):
    """What a waiting turn waits for."""

    APPROVAL = "approval"
    QUESTION = "question"
    EXTERNAL = "external"
    RECONCILE = "reconcile"
    DEFINITION = "definition"
    BUDGET = "budget"


class RunStatus(StrEnum):
    """Where one execution stands; suspended and lost ones are followed by another."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SUSPENDED = "suspended"
    LOST = "lost"


class InteractionStatus(StrEnum):
    """Where a question to a person stands."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Decision(StrEnum):
    """What may be decided on an interaction (`cancelled` and `expired` only by the product)."""

    APPROVE = "approve"
    DENY = "deny"
    ANSWER = "answer"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


STATUS_OF_DECISION = {
    Decision.APPROVE: InteractionStatus.APPROVED,
    Decision.DENY: InteractionStatus.DENIED,
    Decision.ANSWER: InteractionStatus.ANSWERED,
    Decision.CANCELLED: InteractionStatus.CANCELLED,
    Decision.EXPIRED: InteractionStatus.EXPIRED,
}

TERMINAL = frozenset({TurnState.COMPLETED, TurnState.FAILED, TurnState.CANCELLED})
GOING = frozenset({TurnState.RUNNING, TurnState.PAUSING, TurnState.CANCELLING})
"""States in which a run works on the turn, or the next worker will."""
ANSWERABLE = frozenset({WaitKind.APPROVAL, WaitKind.QUESTION, WaitKind.EXTERNAL})
"""Waits that end when every interaction has its answer."""
WAITS = frozenset({TurnState.WAITING, TurnState.PAUSED})
"""States in which a turn may wait for something: a paused one keeps its wait."""
OPEN_STATES = tuple(state for state in TurnState if state not in TERMINAL)

STOP_CANCEL = "run/stop_requested:cancel"
STOP_PAUSE = "run/stop_requested:pause"
RESUME_QUEUED = "turn/resumed:queued"
"""A turn that was paused before it began takes its place in the queue again."""
RESUME_WAITING = "turn/resumed:waiting"
"""What a turn waited for when it was paused is still open."""

_S = TurnState
_ENDS: dict[str, TurnState] = {
    FactType.TURN_COMPLETED: _S.COMPLETED,
    FactType.TURN_FAILED: _S.FAILED,
    FactType.TURN_CANCELLED: _S.CANCELLED,
}

MOVES: dict[TurnState, dict[str, TurnState]] = {
    _S.QUEUED: {
        FactType.RUN_START: _S.RUNNING,
        FactType.TURN_SUSPENDED: _S.WAITING,
        FactType.TURN_PAUSED: _S.PAUSED,
        FactType.TURN_FAILED: _S.FAILED,
        FactType.TURN_CANCELLED: _S.CANCELLED,
    },
    _S.RUNNING: {
        **_ENDS,
        FactType.RUN_START: _S.RUNNING,
        FactType.TURN_RESUMED: _S.RUNNING,
        FactType.TURN_SUSPENDED: _S.WAITING,
        FactType.TURN_PAUSED: _S.PAUSED,
        STOP_CANCEL: _S.CANCELLING,
        STOP_PAUSE: _S.PAUSING,
    },
    _S.WAITING: {
        **_ENDS,
        FactType.RUN_START: _S.RUNNING,
        FactType.TURN_SUSPENDED: _S.WAITING,
        FactType.TURN_RESUMED: _S.RUNNING,
        FactType.TURN_PAUSED: _S.PAUSED,
    },
    _S.PAUSING: {
        **_ENDS,
        FactType.RUN_START: _S.PAUSING,
        FactType.TURN_RESUMED: _S.PAUSING,
        FactType.TURN_SUSPENDED: _S.WAITING,
        FactType.TURN_PAUSED: _S.PAUSED,
        STOP_CANCEL: _S.CANCELLING,
        STOP_PAUSE: _S.PAUSING,
    },
    # No run begins on a paused turn: a worker that was about to is refused.
    _S.PAUSED: {
        FactType.TURN_RESUMED: _S.RUNNING,
        RESUME_QUEUED: _S.QUEUED,
        RESUME_WAITING: _S.WAITING,
        FactType.TURN_CANCELLED: _S.CANCELLED,
    },
    _S.CANCELLING: {
        **_ENDS,
        FactType.RUN_START: _S.CANCELLING,
        FactType.TURN_RESUMED: _S.CANCELLING,
        FactType.TURN_SUSPENDED: _S.WAITING,
        STOP_CANCEL: _S.CANCELLING,
        STOP_PAUSE: _S.CANCELLING,
    },
    _S.COMPLETED: {},
    _S.FAILED: {},
    _S.CANCELLED: {},
}
"""Spec §9.2: turn state × fact → next state. What is missing here cannot be committed."""


class TurnCommand(StrEnum):
    """What a person may ask of a turn, in the order of the control bar."""

    INTERRUPT = "interrupt"
    PAUSE = "pause"
    RESUME = "resume"
    STEER = "steer"
    CANCEL = "cancel"
    RESPOND = "respond"
    RECONCILE = "reconcile"


_ENDED = "The turn has ended."
_BEING_CANCELLED = "The turn is being cancelled already."
_BEING_PAUSED = (
    "The turn is being paused: it stops at its next step. To take that back, resume it then."
)
_NOT_PAUSED = "The turn is not paused."
_NOT_WAITING = "The turn does not wait for an answer."
_NO_UNKNOWN = "No tool call of this turn has an unknown outcome."

_NOT_ANSWERED: dict[str, str] = {
    WaitKind.DEFINITION: "Nothing runs while the turn waits for its agent to be defined; define it "
    "or cancel the turn.",
    WaitKind.RECONCILE: "Nothing runs while the turn waits for the outcome of a tool call; record "
    "it or cancel the turn.",
    WaitKind.BUDGET: "Nothing runs while the turn waits for its budget; cancel it instead.",
}
"""Why nothing can be interrupted where a turn waits for something else than an answer."""

COMMANDS: dict[TurnCommand, dict[TurnState, str | None]] = {
    TurnCommand.INTERRUPT: {
        _S.QUEUED: "The turn has not started; cancel it instead.",
        _S.RUNNING: None,
        _S.WAITING: "Nothing runs while the turn waits; answer it or cancel it.",
        _S.PAUSING: None,
        _S.PAUSED: "Nothing runs while the turn is paused; cancel it instead.",
        _S.CANCELLING: _BEING_CANCELLED,
    },
    TurnCommand.PAUSE: {
        _S.QUEUED: None,
        _S.RUNNING: None,
        _S.WAITING: None,
        _S.PAUSING: _BEING_PAUSED,
        _S.PAUSED: "The turn is paused already.",
        _S.CANCELLING: _BEING_CANCELLED,
    },
    TurnCommand.RESUME: {
        _S.QUEUED: _NOT_PAUSED,
        _S.RUNNING: _NOT_PAUSED,
        _S.WAITING: "The turn is not paused; it goes on by itself when its wait is over.",
        _S.PAUSING: _BEING_PAUSED,
        _S.PAUSED: None,
        _S.CANCELLING: _BEING_CANCELLED,
    },
    TurnCommand.STEER: {
        _S.QUEUED: None,
        _S.RUNNING: None,
        _S.WAITING: None,
        _S.PAUSING: None,
        _S.PAUSED: None,
        _S.CANCELLING: "The turn is being cancelled; nothing would read it.",
    },
    TurnCommand.CANCEL: {
        _S.QUEUED: None,
        _S.RUNNING: None,
        _S.WAITING: None,
        _S.PAUSING: None,
        _S.PAUSED: None,
        _S.CANCELLING: _BEING_CANCELLED,
    },
    TurnCommand.RESPOND: {
        _S.QUEUED: _NOT_WAITING,
        _S.RUNNING: _NOT_WAITING,
        _S.WAITING: None,
        _S.PAUSING: _NOT_WAITING,
        _S.PAUSED: None,
        _S.CANCELLING: "The turn is being cancelled.",
    },
    TurnCommand.RECONCILE: {
        _S.QUEUED: _NO_UNKNOWN,
        _S.RUNNING: _NO_UNKNOWN,
        _S.WAITING: None,
        _S.PAUSING: _NO_UNKNOWN,
        _S.PAUSED: None,
        _S.CANCELLING: "The turn is being cancelled.",
    },
}
"""Command × state → None where it is allowed, else why not. Ended states refuse everything."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Whether a command can be given now, and the sentence that says why not."""

    command: TurnCommand
    allowed: bool
    reason: str


def allows(command: TurnCommand, state: str, wait_kind: str | None = None) -> Allowed:
    """Whether the command is possible in this state."""
    if state not in set(TurnState):
        return Allowed(
            command, allowed=False, reason=f"The state {state!r} of the turn is unknown."
        )
    reason = COMMANDS[command].get(TurnState(state), _ENDED)
    if command is TurnCommand.INTERRUPT and state == TurnState.WAITING and wait_kind:
        reason = _NOT_ANSWERED.get(wait_kind, reason)
    if reason is None and TurnState(state) in WAITS:
        reason = _of_wait(command, wait_kind)
    return Allowed(command, reason is None, reason or "")


def _of_wait(command: TurnCommand, wait_kind: str | None) -> str | None:
    if command is TurnCommand.RESPOND and wait_kind not in ANSWERABLE:
        return _NOT_WAITING
    if command is TurnCommand.RECONCILE and wait_kind != WaitKind.RECONCILE:
        return _NO_UNKNOWN
    return None


def commands(state: str, wait_kind: str | None = None) -> list[Allowed]:
    """Every command with its verdict, in the order of the control bar."""
    return [allows(command, state, wait_kind) for command in TurnCommand]


def in_queue(state: str, wait_kind: str | None, *, has_started: bool) -> bool:
    """Whether a turn still has to begin: queued, or paused before its first run."""
    if state == TurnState.PAUSED:
        return wait_kind is None and not has_started
    return state == TurnState.QUEUED


def next_state(state: TurnState, event: str) -> TurnState | None:
    """Where a fact moves a turn, or None where the table has no such move."""
    return MOVES[state].get(event)
