"""What the API takes and gives of sessions, threads, states, facts and controls."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from agentadmin.api_schemas import AnyJson, Body
from agentadmin.engine.clock import iso
from agentadmin.engine.journal.facts import Fact
from agentadmin.engine.state import codec
from agentadmin.engine.state.mutations import OPERATIONS
from sessions_app.journal.configured import agent_window
from sessions_app.models import AgentSession, AgentThread, ControlRequest
from sessions_app.operation_schemas import operation_schema
from sessions_app.selectors.lineage import forks_of
from sessions_app.selectors.threads import StateAt
from sessions_app.selectors.transcript import Entry, Transcript
from sessions_app.services.edits import MAX_OPERATIONS

Json = dict[str, Any]
BigInt = Annotated[int, Field(ge=0)]


Operations = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_OPERATIONS,
            "items": {"oneOf": [operation_schema(spec) for spec in OPERATIONS.values()]},
        }
    ),
]


class CreateSession(Body):
    """A new session; a missing `session_id` is made."""

    agent_id: str
    user_id: str | None = None
    session_id: str | None = None
    namespace: str = "default"
    request_id: str | None = None


class ImportSession(Body):
    """A state of another system, or our own, and as what it is imported."""

    state: AnyJson
    format: str = "auto"
    agent_id: str = "demo"
    namespace: str = "default"
    user_id: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    permissions: Literal["file", "agent"] = "file"
    request_id: str | None = None


class UpdateState(Body):
    """Operations that commit together or not at all."""

    reason: str | None = None
    operations: Operations
    expected_version: BigInt | None = None
    on_busy: Literal["reject", "wait", "interrupt"] = "reject"
    dry_run: bool = False
    request_id: str | None = None


def session_item(session: AgentSession) -> Json:
    """A session as lists show it."""
    return {
        "id": str(session.id),
        "namespace": session.namespace,
        "agent_id": session.agent_id,
        "user_id": session.user_id,
        "session_id": session.session_id,
        "status": session.status,
        "threads": session.thread_count,
        "pending": session.pending,
        "tokens": session.tokens,
        "created_at": iso(session.created_at),
        "updated_at": iso(session.updated_at),
    }


def session_whole(session: AgentSession, threads: list[AgentThread]) -> Json:
    """A session with its threads."""
    return {
        **session_item(session),
        "threads": [thread_item(thread) for thread in threads],
        "forks": [_fork(thread) for thread in forks_of(session)],
    }


def _fork(thread: AgentThread) -> Json:
    """A thread that began as a copy, and of what."""
    return {
        "id": str(thread.session_id),
        "session_id": thread.session.session_id,
        "thread_id": str(thread.id),
        "forked_from": _origin(thread),
        "created_at": iso(thread.created_at),
    }


def _origin(thread: AgentThread) -> Json | None:
    if thread.forked_from_id is None:
        return None
    return {"thread_id": str(thread.forked_from_id), "version": thread.forked_version or 0}


def thread_item(thread: AgentThread) -> Json:
    """A thread as its session shows it."""
    return {
        "id": str(thread.id),
        "agent_id": thread.agent_id,
        "thread_id": thread.thread_id,
        "status": thread.status,
        "version": thread.version,
        "head_seq": thread.head_seq,
        "queued_turns": thread.queued_turns,
        "pending_interactions": thread.pending_interactions,
        "forked_from": _origin(thread),
        "updated_at": iso(thread.updated_at),
    }


def thread_whole(thread: AgentThread) -> Json:
    """A thread with its identity, lease and context."""
    session = thread.session
    return {
        **thread_item(thread),
        "session": {
            "id": str(session.id),
            "namespace": session.namespace,
            "user_id": session.user_id,
            "session_id": session.session_id,
        },
        "lease": _lease(thread),
        "active_run_id": thread.active_run_id,
        "active_turn_id": thread.active_turn_id,
        "pending_controls": thread.pending_controls,
        "turns": thread.turns,
        "tokens": thread.tokens,
        "context": {
            "messages": thread.context_messages,
            "tokens": thread.context_tokens,
            "window": agent_window(thread.agent_id),
        },
    }


def _lease(thread: AgentThread) -> Json | None:
    if thread.lease_owner is None or thread.lease_until is None:
        return None
    return {
        "owner": thread.lease_owner,
        "epoch": thread.lease_epoch,
        "until": iso(thread.lease_until),
    }


def state_whole(found: StateAt) -> Json:
    """A state at a version."""
    return {
        "version": found.version,
        "seq": found.seq,
        "as_of": iso(found.as_of),
        "state": found.state.to_dict(),
    }


def fact_item(thread: AgentThread, fact: Fact) -> Json:
    """A fact in the shape of the live event that tells of it."""
    return {
        "id": f"{thread.id}-{fact.seq}",
        "seq": fact.seq,
        "type": fact.type,
        "thread_id": str(thread.id),
        "turn_id": fact.turn_id,
        "run_id": fact.run_id,
        "step_id": fact.step_id,
        "at": iso(fact.occurred_at),
        "epoch": fact.epoch,
        "commit": fact.commit.hex(),
        "erased": fact.erased,
        "data": fact.payload,
    }


def transcript_page(found: Transcript) -> Json:
    """A page of the history; `before=<next_cursor>` asks for the older ones."""
    return {
        "as_of": found.as_of,
        "items": [_entry(entry) for entry in found.items],
        "next_cursor": None if found.before is None else str(found.before),
    }


def _entry(entry: Entry) -> Json:
    return {
        "seq": entry.seq,
        "item": entry.item,
        "type": entry.type,
        "at": iso(entry.at),
        "turn_id": entry.turn_id,
        "run_id": entry.run_id,
        "in_context": entry.in_context,
        "changed_seq": entry.changed_seq,
        "message": entry.message,
    }


def control_whole(control: ControlRequest) -> Json:
    """A control with its four times and its result."""
    times = {
        "requested": control.requested_at,
        "delivered": control.delivered_at,
        "acknowledged": control.acknowledged_at,
        "effective": control.effective_at,
    }
    return {
        "id": str(control.id),
        "thread_id": str(control.thread_id),
        "run_id": control.run_id,
        "turn_id": control.turn_id,
        "kind": control.kind,
        "state": control.state,
        "actor": control.actor_name,
        "reason": control.reason,
        "times": {name: None if at is None else iso(at) for name, at in times.items()},
        "result": codec.loads(control.result),
    }
