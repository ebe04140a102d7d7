"""The answers about turns, runs, questions and live views, as the document tells them.

`schemas.py` writes them; Schemathesis and the API's tests hold what it writes against these.
"""

from __future__ import annotations

from pydantic import Field

from agentadmin.api_schemas import Answer, AnyJson, Count, Json, Time, Uuid
from runs_app.states import (
    InteractionStatus,
    Outcome,
    RunStatus,
    TurnCommand,
    TurnState,
    WaitKind,
)
from sessions_app.answers import ControlWhole, ThreadWhole, TranscriptPage


class Wait(Answer):
    """What a turn waits for: the kind, and which interactions or calls."""

    kind: WaitKind
    ids: list[str]


class CommandVerdict(Answer):
    """Whether a turn may be told this now and, where not, why."""

    name: TurnCommand
    allowed: bool
    reason: str


class TurnItem(Answer):
    """A turn with what may be asked of it now; `id` and `turn_id` are the same."""

    id: str
    turn_id: str
    thread_id: Uuid
    state: TurnState
    wait: Wait | None
    outcome: Outcome | None
    revision: Count
    request_id: str | None
    input_preview: str
    unread: Count = Field(description="How many texts it was told and has not read.")
    by: str
    attempts: Count
    reply: str | None
    error: AnyJson
    start_seq: int = Field(ge=1)
    created_at: Time
    started_at: Time | None
    ended_at: Time | None
    commands: list[CommandVerdict]


class TurnRow(TurnItem):
    """A turn with where it belongs."""

    session_id: Uuid
    agent_id: str
    user_id: str | None


class Usage(Answer):
    """Tokens and model calls."""

    input: Count
    output: Count
    calls: Count


class RunItem(Answer):
    """One execution of a turn; `id` and `run_id` are the same."""

    id: str
    run_id: str
    thread_id: Uuid
    session_id: Uuid
    agent_id: str
    turn_id: str | None
    attempt: Count
    status: RunStatus
    why: str
    worker: str
    agent: AnyJson
    reason: str | None
    first_error: str | None
    usage: Usage
    start_seq: int = Field(ge=1)
    end_seq: int | None
    started_at: Time
    ended_at: Time | None


class InteractionItem(Answer):
    """A question with everything that is needed to decide it."""

    id: str
    thread_id: Uuid
    turn_id: str | None
    run_id: str | None
    kind: str
    tool: str
    call_id: str
    input: AnyJson
    call_hash: str
    suggested_rules: list[AnyJson]
    choices: AnyJson
    asked_because: str
    message: str
    created_at: Time
    expires_at: Time | None
    status: InteractionStatus
    decided_by: str | None
    decided_at: Time | None
    reason: str | None


class OrderItem(Answer):
    """An order of the demo's pretended external system."""

    id: int
    thread_id: Uuid
    turn_id: str
    call_id: str
    sku: str
    quantity: int
    times_asked: Count
    created_at: Time


class LiveBlock(Answer):
    """A block that is being written: what it holds as of the snapshot's cursor."""

    block: str
    type: str
    run_id: str | None
    turn_id: str | None
    step_id: str | None
    offset: Count
    text: str
    ended: bool


class Snapshot(Answer):
    """Everything a live view needs; events after `cursor` follow it without a gap."""

    cursor: str
    seq: Count
    version: Count
    thread: ThreadWhole
    messages: TranscriptPage
    turns: list[TurnItem]
    inputs: Json = Field(description="What was submitted and is not done, by its seq.")
    runs: list[RunItem]
    interactions: list[InteractionItem]
    controls: list[ControlWhole]
    blocks: list[LiveBlock]
