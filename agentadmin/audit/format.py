"""What an audit entry's texts and hashes are, without a database: this format is final.

* ``header`` is canonical JSON of facts that are kept for ever: ids, names of accounts, the action,
  the outcome. It never holds what somebody wrote or what identifies an end user.
* ``body`` is canonical JSON of everything else: reason, label of the target, before and after,
  address, the claimed name of a failed sign-in. It can be erased.
* ``body_commit = sha256(salt + body)``, so that an erased body leaves its proof behind.
* ``hash = sha256(canonical JSON [prev_hash, header, body_commit])``, where ``header`` stands as a
  string: whoever verifies needs the exact text, not a parser that keeps it exact. The first entry
  of a chain has 64 zeros before it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from agentadmin.engine.clock import iso
from agentadmin.engine.state.codec import commit_of, dumps, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

FORMAT = 1
GENESIS = "0" * 64
SYSTEM_CHAIN = "system"
_ESCAPE = "="


class Outcome(StrEnum):
    """How it ended."""

    ALLOWED = "allowed"
    DENIED = "denied"
    FAILED = "failed"
    SYSTEM = "system"


class AuditActor(Protocol):
    """Who did it, as far as the log needs to know (`agentadmin.access.Actor` is one)."""

    @property
    def kind(self) -> str:
        """user, token, system or anonymous."""

    @property
    def id(self) -> str:
        """The account's id; empty for system and anonymous."""

    @property
    def name(self) -> str:
        """The account's name."""

    @property
    def token_id(self) -> str | None:
        """The token that was shown, if one was."""

    @property
    def on_behalf_of(self) -> str | None:
        """The account for which a system actor acts."""

    @property
    def bound_user_id(self) -> str | None:
        """The end user for whom a token acts: content, kept in the body."""

    @property
    def address(self) -> str | None:
        """Where the request came from: content, kept in the body."""

    @property
    def trace_id(self) -> str:
        """The request's trace id."""

    @property
    def request_id(self) -> str | None:
        """The caller's idempotency key: content, kept in the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What it was done to: ids for the header, the readable label for the body."""

    kind: str
    id: str = ""
    within: str = ""
    agent_id: str = ""
    label: str = ""

    @property
    def key(self) -> str:
        """The list column: `kind:id`."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry before it has a place in a chain; `namespace` None means the system's chain."""

    namespace: str | None
    actor: AuditActor
    action: str
    target: Target
    outcome: Outcome
    reason: str | None = None
    content: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """The texts and hashes of one entry."""

    header: str
    body: str
    salt: bytes
    body_commit: str
    prev_hash: str
    hash: str


def chain_of(namespace: str | None) -> str:
    """The chain of a namespace; one that is named like the system's is kept apart from it."""
    if namespace is None:
        return SYSTEM_CHAIN
    clash = namespace == SYSTEM_CHAIN or namespace.startswith(_ESCAPE)
    return _ESCAPE + namespace if clash else namespace


def namespace_of(chain: str) -> str | None:
    """The namespace of a chain: the inverse of `chain_of`."""
    return None if chain == SYSTEM_CHAIN else chain.removeprefix(_ESCAPE)


def header_of(entry: NewEntry, *, entry_id: str, n: int, at: datetime) -> str:
    """The text that is kept for ever."""
    actor, target = entry.actor, entry.target
    return dumps(
        {
            "v": FORMAT,
            "id": entry_id,
            "chain": chain_of(entry.namespace),
            "n": n,
            "at": iso(at),
            "actor": {
                "kind": str(actor.kind),
                "id": actor.id,
                "name": actor.name,
                "token_id": actor.token_id,
            },
            "on_behalf_of": actor.on_behalf_of,
            "action": entry.action,
            "target": {
                "kind": target.kind,
                "id": target.id,
                "within": target.within,
                "agent_id": target.agent_id,
            },
            "outcome": str(entry.outcome),
            "trace_id": actor.trace_id,
        }
    )


def body_of(entry: NewEntry) -> str:
    """The text that can be erased."""
    actor = entry.actor
    return dumps(
        {
            "reason": entry.reason,
            "target_label": entry.target.label,
            "subject": actor.bound_user_id,
            "address": actor.address,
            "request_id": actor.request_id,
            **({"content": dict(entry.content)} if entry.content else {}),
        }
    )


def hash_of(prev_hash: str, header: str, body_commit: str) -> str:
    """The link: what comes before, what is kept, and the commitment to what may go."""
    return sha256(dumps([prev_hash, header, body_commit]))


def columns_of(header: Mapping[str, Any]) -> dict[str, str | None]:
    """The list columns that repeat the header."""
    actor, target = header["actor"], header["target"]
    kept = {
        "id": header["id"],
        "chain": header["chain"],
        "actor": actor["name"],
        "actor_id": actor["id"],
        "action": header["action"],
        "target": f"{target['kind']}:{target['id']}",
        "within": target["within"],
        "agent_id": target["agent_id"],
        "outcome": header["outcome"],
        "trace_id": header["trace_id"],
    }
    columns: dict[str, str | None] = {key: column_text(value) for key, value in kept.items()}
    return columns | {"namespace": namespace_of(header["chain"])}


def content_columns_of(body: Mapping[str, Any] | None) -> dict[str, str | None]:
    """The list columns that repeat the body; an erased body leaves none."""
    if body is None:
        return {"reason": None, "target_label": None}
    return {key: _column_or_none(body[key]) for key in ("reason", "target_label")}


def column_text(text: str) -> str:
    """The text as any database takes it: PostgreSQL refuses NUL, UTF-8 refuses lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if text else text


def _column_or_none(text: str | None) -> str | None:
    return None if text is None else column_text(text)


def seal(entry: NewEntry, *, entry_id: str, n: int, at: datetime, prev_hash: str) -> Sealed:
    """Give an entry its place: texts, salt, commitment, link."""
    header = header_of(entry, entry_id=entry_id, n=n, at=at)
    body = body_of(entry)
    salt = os.urandom(16)
    commit = commit_of(salt, body)
    return Sealed(header, body, salt, commit, prev_hash, hash_of(prev_hash, header, commit))
