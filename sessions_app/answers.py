"""The answers about sessions, threads, states, facts and controls, as the document tells them.

`schemas.py` writes them; Schemathesis and the API's tests hold what it writes against these.
"""

from __future__ import annotations

from pydantic import Field

from agentadmin.api_schemas import Answer, AnyJson, Count, Json, Page, Time, Uuid
from sessions_app.states import ControlKind, ControlState, ThreadStatus


class SessionItem(Answer):
    """A session as lists show it; its status is the most urgent of its threads'."""

    id: Uuid
    namespace: str
    agent_id: str
    user_id: str | None = Field(description="Null is anonymous.")
    session_id: str
    status: ThreadStatus
    threads: Count
    pending: Count = Field(description="Questions that wait for a person.")
    tokens: Count
    created_at: Time
    updated_at: Time


class ForkedFrom(Answer):
    """The version of a thread that another one began as a copy of."""

    thread_id: Uuid
    version: Count


class ForkItem(Answer):
    """A session that began as a copy of a version."""

    id: Uuid
    session_id: str
    thread_id: Uuid
    forked_from: ForkedFrom | None
    created_at: Time


class ThreadItem(Answer):
    """A thread as its session shows it; `thread_id` is its name within the session."""

    id: Uuid
    agent_id: str
    thread_id: str
    status: ThreadStatus
    version: Count
    head_seq: Count
    queued_turns: Count
    pending_interactions: Count
    forked_from: ForkedFrom | None
    updated_at: Time


class SessionWhole(Answer):
    """A session with its threads."""

    id: Uuid
    namespace: str
    agent_id: str
    user_id: str | None
    session_id: str
    status: ThreadStatus
    pending: Count
    tokens: Count
    created_at: Time
    updated_at: Time
    threads: list[ThreadItem]
    forks: list[ForkItem] = Field(description="The newest sessions that were forked from it.")


class SessionIdentity(Answer):
    """What a session is called."""

    id: Uuid
    namespace: str
    user_id: str | None
    session_id: str


class Lease(Answer):
    """Which worker holds a thread, and until when unless it renews."""

    owner: str
    epoch: Count
    until: Time


class WorkingContext(Answer):
    """How much of the agent's window the working context fills."""

    messages: Count
    tokens: Count
    window: Count


class ThreadWhole(ThreadItem):
    """A thread with its identity, lease and context."""

    session: SessionIdentity
    lease: Lease | None
    active_run_id: str | None
    active_turn_id: str | None
    pending_controls: Count
    turns: Count
    tokens: Count
    context: WorkingContext


class StateWhole(Answer):
    """A committed AgentState; version 0 is a thread that never ran."""

    version: Count
    seq: Count
    as_of: Time
    state: Json


class Updated(Answer):
    """What an update of a state has changed, or would change (`dry_run`)."""

    version: Count
    seq: Count
    audit_id: Uuid | None
    diff: Json
    effects: list[str]
    trace_id: str
    dry_run: bool | None = None
    widens: bool | None = None


class ControlTimes(Answer):
    """When a control came to each of its states."""

    requested: Time
    delivered: Time | None
    acknowledged: Time | None
    effective: Time | None


class ControlWhole(Answer):
    """A command to a thread: how far it has come, and with what result."""

    id: Uuid
    thread_id: Uuid
    run_id: str | None
    turn_id: str | None
    kind: ControlKind
    state: ControlState
    actor: str
    reason: str
    times: ControlTimes
    result: AnyJson


class FactItem(Answer):
    """A fact in the shape of the live event that tells of it."""

    id: str
    seq: int = Field(ge=1)
    type: str
    thread_id: Uuid
    turn_id: str | None
    run_id: str | None
    step_id: str | None
    at: Time
    epoch: Count
    commit: str = Field(description="Salted hash of the payload, in hexadecimal digits.")
    erased: bool
    data: AnyJson


class TranscriptEntry(Answer):
    """One message of the history; `changed_seq` names the fact that replaced it in place."""

    seq: int = Field(ge=1)
    item: str
    type: str
    at: Time
    turn_id: str | None
    run_id: str | None
    in_context: bool
    changed_seq: int | None
    message: Json


class TranscriptPage(Page[TranscriptEntry]):
    """A page of the history in order; `before=<next_cursor>` asks for the older ones."""

    as_of: Count
