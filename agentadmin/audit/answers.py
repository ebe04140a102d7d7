"""The answers about the audit log, as the document tells them; `selectors.py` writes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agentadmin.api_schemas import Answer, AnyJson, Count, Json, Time, Uuid, one_of
from agentadmin.audit.format import Outcome


class AuditItem(Answer):
    """What a list shows of an entry."""

    id: Uuid
    chain: str
    n: int = Field(ge=1)
    at: Time
    namespace: str | None
    actor: str
    actor_id: str
    action: str
    target: str
    target_label: str | None
    within: str
    agent_id: str
    outcome: Annotated[str, one_of(*Outcome)]
    reason: str | None
    trace_id: str


class AuditWhole(Answer):
    """An entry with its content and hashes; what was erased is null, its hashes stay."""

    id: Uuid
    chain: str
    n: int = Field(ge=1)
    at: Time
    actor: Json
    on_behalf_of: str | None
    action: str
    target: Json
    outcome: Annotated[str, one_of(*Outcome)]
    reason: str | None
    address: str | None
    request_id: str | None
    trace_id: str
    content: AnyJson
    erased: bool
    body_commit: str
    prev_hash: str
    hash: str


class FirstBad(Answer):
    """The first entry that does not fit its chain, and why."""

    chain: str
    n: Count
    why: str


class Verification(Answer):
    """What the recomputation of every hash found."""

    ok: bool
    checked: Count
    erased: Count
    first_bad: FirstBad | None
