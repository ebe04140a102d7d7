"""What the API takes and gives of turns, runs, questions and demo orders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from agentadmin.api_schemas import Body
from agentadmin.engine.clock import iso
from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state import codec
from runs_app.models import DemoOrder, Interaction, Run, Turn
from runs_app.states import commands
from sessions_app.journal.unreadable import column, column_list
from sessions_app.models import Job

Json = dict[str, Any]


Input = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": {"type": "object"}},
            ]
        }
    ),
]


class SubmitTurn(Body):
    """A message for the agent: text, or blocks of text and media."""

    input: Input
    request_id: str | None = None


class CancelTurn(Body):
    """Why a turn is given up."""

    reason: str | None = None
    request_id: str | None = None


class PauseTurn(Body):
    """Why a turn is held, where somebody says so."""

    reason: str | None = None
    request_id: str | None = None


class ResumeTurn(PauseTurn):
    """The revision that the caller saw: a turn that moved since is looked at again first."""

    revision: int = Field(ge=0, le=2**31 - 1)


class SteerTurn(Body):
    """What a turn is told: text, or blocks of text and media."""

    input: Any
    request_id: str | None = None


class Interrupt(Body):
    """Why a run is interrupted, and what the agent is told about it."""

    reason: str | None = None
    message: str | None = None
    request_id: str | None = None


class InterruptSession(Interrupt):
    """The same for whatever runs on one of a session's threads."""

    thread_id: str | None = None


class Respond(Body):
    """A decision about exactly the call that was shown."""

    decision: Literal["approve", "deny", "answer"]
    call_hash: str
    request_id: str | None = None
    reason: str | None = None
    answer: Any = None
    rules: list[Any] = Field(default_factory=list)
    input: dict[str, Any] | None = None


class Reconcile(Body):
    """What became of each call of unknown outcome: `{call_id: {output, state}}`."""

    results: dict[str, Any]
    reason: str | None = None
    request_id: str | None = None


def turn_item(turn: Turn) -> Json:
    """A turn with what may be asked of it now."""
    waits = turn.wait_kind is not None
    return {
        "id": turn.id,
        "turn_id": turn.id,
        "thread_id": str(turn.thread_id),
        "state": turn.state,
        "wait": {"kind": turn.wait_kind, "ids": column_list(turn.wait_ids)} if waits else None,
        "outcome": turn.outcome,
        "revision": turn.revision,
        "request_id": turn.request_id,
        "input_preview": turn.input_preview,
        "unread": len(column_list(turn.steering)),
        "by": turn.actor_name,
        "attempts": turn.attempts,
        "reply": turn.reply,
        "error": _error(turn.error),
        "start_seq": turn.start_seq,
        "created_at": iso(turn.created_at),
        "started_at": turn.started_at and iso(turn.started_at),
        "ended_at": turn.ended_at and iso(turn.ended_at),
        "commands": [
            {"name": verdict.command, "allowed": verdict.allowed, "reason": verdict.reason}
            for verdict in commands(turn.state, turn.wait_kind)
        ],
    }


def turn_row(turn: Turn) -> Json:
    """A turn in a list over many threads; reads its thread's session."""
    thread = turn.thread
    return turn_item(turn) | {
        "session_id": str(thread.session_id),
        "agent_id": thread.agent_id,
        "user_id": thread.session.user_id,
    }


def _error(text: str | None) -> Any:
    """A very long error is stored cut short, and is then no JSON any more, whatever its end."""
    if text is None:
        return None
    try:
        return codec.loads(text)
    except DecodeError:
        return {"code": "error", "detail": text}


def run_item(run: Run) -> Json:
    """A run as lists and pages show it; reads its thread's session."""
    return {
        "id": run.id,
        "run_id": run.id,
        "thread_id": str(run.thread_id),
        "session_id": str(run.thread.session_id),
        "agent_id": run.thread.agent_id,
        "turn_id": run.turn_id,
        "attempt": run.attempt,
        "status": run.status,
        "why": run.why,
        "worker": run.worker,
        "agent": column("agent", run.agent),
        "reason": run.reason,
        "first_error": run.first_error,
        "usage": {"input": run.tokens_in, "output": run.tokens_out, "calls": run.model_calls},
        "start_seq": run.start_seq,
        "end_seq": run.end_seq,
        "started_at": iso(run.started_at),
        "ended_at": run.ended_at and iso(run.ended_at),
    }


def interaction_item(asked: Interaction) -> Json:
    """A question with everything that is needed to decide it."""
    return {
        "id": asked.id,
        "thread_id": str(asked.thread_id),
        "turn_id": asked.turn_id,
        "run_id": asked.run_id,
        "kind": asked.kind,
        "tool": asked.tool,
        "call_id": asked.call_id,
        "input": column("input", asked.input),
        "call_hash": asked.call_hash,
        "suggested_rules": column_list(asked.suggested_rules),
        "choices": column_list(asked.choices) or None,
        "asked_because": asked.because,
        "message": asked.message,
        "created_at": iso(asked.created_at),
        "expires_at": asked.expires_at and iso(asked.expires_at),
        "status": asked.status,
        "decided_by": asked.decided_by,
        "decided_at": asked.decided_at and iso(asked.decided_at),
        "reason": asked.reason,
    }


def order_item(order: DemoOrder) -> Json:
    """An order of the demo's pretended external system."""
    return {
        "id": order.id,
        "thread_id": str(order.thread_id),
        "turn_id": order.turn_id,
        "call_id": order.call_id,
        "sku": order.sku,
        "quantity": order.quantity,
        "times_asked": order.times_asked,
        "created_at": iso(order.created_at),
    }


def job_item(job: Job) -> Json:
    """What a worker does at length, and how far it has come."""
    return {
        "id": str(job.id),
        "kind": job.kind,
        "state": job.state,
        "session_id": str(job.session_id),
        "step": job.step,
        "done": job.done,
        "total": job.total,
        "reason": job.reason,
        "by": job.actor_name,
        "error": job.error or None,
        "result": column("result", job.result) or None,
        "requested_at": iso(job.requested_at),
        "started_at": job.started_at and iso(job.started_at),
        "ended_at": job.ended_at and iso(job.ended_at),
    }
