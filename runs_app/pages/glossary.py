"""What the words of the state tables mean, one sentence each; a test holds that none is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.audit.format import Outcome as AuditOutcome
from runs_app.states import InteractionStatus, Outcome, RunStatus, TurnState, WaitKind
from sessions_app.states import ControlState, JobState, ThreadStatus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Chapter:
    """The states of one kind of thing, in the order of its table."""

    title: str
    about: str
    states: type[StrEnum]
    meanings: Mapping[str, str]

    @property
    def entries(self) -> list[tuple[str, str]]:
        """Every state with its meaning."""
        return [(state.value, self.meanings.get(state.value, "")) for state in self.states]


CHAPTERS = (
    Chapter(
        "Sessions and threads",
        "A session is a conversation of one user; a thread is the state of one agent in it. "
        "A session shows the most urgent of its threads.",
        ThreadStatus,
        {
            "idle": "Nothing is going on and nothing waits.",
            "queued": "A turn waits for a worker.",
            "running": "A run works on a turn.",
            "waiting": "The turn needs a person before it goes on.",
            "paused": "Somebody paused the turn; it goes on when it is resumed.",
            "failed": "The last turn failed.",
        },
    ),
    Chapter(
        "Turns",
        "A turn is one task given to an agent, from the message to the answer.",
        TurnState,
        {
            "queued": "It waits for the turns before it, or for a worker.",
            "running": "A run works on it.",
            "waiting": "It waits for an answer; the reason stands beside it.",
            "pausing": "A pause was asked for; the run stops at its next safe point.",
            "paused": "It stands still until somebody resumes or cancels it.",
            "cancelling": "A cancellation was asked for and is being carried out.",
            "completed": "It has ended, with an outcome.",
            "failed": "It has ended with an error.",
            "cancelled": "Somebody cancelled it.",
        },
    ),
    Chapter(
        "Why a turn waits",
        "A waiting turn holds no worker, so it may wait for as long as it takes.",
        WaitKind,
        {
            "approval": "A tool call asks to be allowed or denied.",
            "question": "The agent asked a person something.",
            "external": "A tool's result comes from outside.",
            "reconcile": "A tool call was cut off, and nobody knows yet whether it had its effect.",
            "definition": "The agent's definition is missing here.",
            "budget": "It has used up what it was given.",
        },
    ),
    Chapter(
        "Outcomes of turns",
        "How a turn that has ended came to its end.",
        Outcome,
        {
            "done": "The agent gave its answer.",
            "interrupted": "Somebody interrupted it; what was written until then stays.",
            "max_iterations": "It reached the limit of steps.",
            "all_denied": "Every call was denied and the agent stops on that.",
            "stopped": "A rule of the agent stopped it.",
            "error": "Something failed for good.",
            "poison": "Its worker died of it again and again, so it is not tried any more.",
        },
    ),
    Chapter(
        "Runs",
        "A run is one execution of a turn by a worker; a turn may need several.",
        RunStatus,
        {
            "running": "A worker holds it.",
            "completed": "It brought its turn to an end or to a wait.",
            "failed": "It ended with an error.",
            "interrupted": "It was stopped by a person.",
            "suspended": "Its worker shut down in order; the next one goes on.",
            "lost": "Its worker fell silent; another one took over.",
        },
    ),
    Chapter(
        "Approvals and questions",
        "What an agent asked of people.",
        InteractionStatus,
        {
            "pending": "Nobody has answered yet.",
            "approved": "The call was allowed.",
            "denied": "The call was refused; the agent was told so.",
            "answered": "The answer was given.",
            "cancelled": "The turn ended before there was an answer.",
            "expired": "The time for an answer ran out.",
        },
    ),
    Chapter(
        "Controls",
        "Interrupt, cancel, pause and edits that wait for a run: how far each has come.",
        ControlState,
        {
            "requested": "It is written down; the run does not know of it yet.",
            "delivered": "The run's worker has it.",
            "acknowledged": "The run has seen it and is acting on it.",
            "effective": "It has happened.",
            "refused": "It could not be done; the reason stands beside it.",
        },
    ),
    Chapter(
        "Jobs",
        "What a worker does at length for a person.",
        JobState,
        {
            "queued": "It waits for a worker.",
            "running": "A worker is at it.",
            "completed": "All of it is done.",
            "failed": "It could not be finished.",
            "stopped": "Somebody stopped it; what was done stays done.",
        },
    ),
    Chapter(
        "Audit",
        "How each act that the audit log tells of ended.",
        AuditOutcome,
        {
            "allowed": "It was permitted and done.",
            "denied": "It was refused; the missing permission is named.",
            "failed": "It was permitted but did not succeed.",
            "system": "The product did it by itself.",
        },
    ),
)
