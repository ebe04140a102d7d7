"""What an applied update answers and leaves behind: the receipt, and the audit entry at the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry
from agentadmin.audit.format import Outcome as AuditOutcome
from agentadmin.audit.models import AuditEntry
from sessions_app.models import AgentSession, StateSnapshot
from sessions_app.policies import thread_target
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.redacting import erasures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.base import Committed, RowAction
    from sessions_app.models import AgentThread
    from sessions_app.services.edits import Change, Edit
    from sessions_app.services.update_state import Update

ACTION = "state.update"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of an update that was applied."""

    version: int
    seq: int
    diff: dict[str, Any]
    effects: Sequence[str]
    audit_id: str | None = None
    trace_id: str = ""

    def body(self) -> dict[str, Any]:
        """As the contract has it; the trace id leads a repeated request to its audit entry."""
        return {
            "version": self.version,
            "seq": self.seq,
            "audit_id": self.audit_id,
            "diff": self.diff,
            "effects": list(self.effects),
            "trace_id": self.trace_id,
        }


@dataclass(slots=True)
class UpdateRows:
    """The rows that go into the commit of an update, the audit entry last."""

    update: Update
    change: Change
    once: Once
    outcome: Outcome = field(default_factory=lambda: Outcome(0, 0, {}, ()))

    def actions(self) -> Sequence[RowAction]:
        """In the order that the lock rule asks for: thread (held), own rows, chain head."""
        erased = erasures(self.update.edit, self.update.thread)
        return (self._settle, *erased, self._audit)

    def _settle(self, committed: Committed) -> None:
        self.outcome = Outcome(
            committed.version,
            committed.last_seq,
            self.change.diff,
            self.change.effects,
            trace_id=self.update.actor.trace_id,
        )
        self.once.remember(Answer(200, self.outcome.body()))
        touch_session(self.update.thread, committed)

    def _audit(self, committed: Committed) -> None:
        update = self.update
        entry_id = audit_change(
            update.actor, update.thread, update.edit, update.reason, self.change, committed
        )
        self.outcome = replace(self.outcome, audit_id=entry_id)


def touch_session(thread: AgentThread, committed: Committed) -> None:
    """Lists show what was changed last."""
    AgentSession.objects.filter(id=thread.session_id).update(updated_at=committed.at)


def audit_change(
    actor: Actor,
    thread: AgentThread,
    edit: Edit,
    reason: str,
    change: Change,
    committed: Committed,
) -> str:
    """The audit entry of a changed state; call it last in the transaction."""
    entry = append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action=ACTION,
            target=thread_target(thread),
            outcome=AuditOutcome.ALLOWED,
            reason=reason,
            content={
                "operations": list(edit.operations),
                "version": committed.version,
                "seq": committed.last_seq,
                "patch": change.diff,
                **_digests(thread, committed.version),
            },
        )
    )
    return str(entry.id)


def _digests(thread: AgentThread, version: int) -> dict[str, str | None]:
    """What the state before and after is committed to: proofs that outlive an erasure."""
    rows = StateSnapshot.objects.filter(thread=thread, version__in=[version - 1, version])
    found = {v: bytes(digest).hex() for v, digest in rows.values_list("version", "digest")}
    return {"before": found.get(version - 1), "after": found.get(version)}


def answered(first: Answer, thread: AgentThread) -> Answer:
    """A remembered answer with the id of its audit entry, which was written after it."""
    return Answer(first.status, completed(first.body, thread))


def completed(body: dict[str, Any], thread: AgentThread) -> dict[str, Any]:
    """A stored outcome with the id of its audit entry; other bodies as they are."""
    if "audit_id" not in body or body["audit_id"] is not None:
        return body
    return with_audit_id(body, thread)


def with_audit_id(body: dict[str, Any], thread: AgentThread) -> dict[str, Any]:
    """The body with the id of the audit entry that its change left."""
    entries = AuditEntry.objects.filter(
        target=thread_target(thread).key, action=ACTION, trace_id=body["trace_id"]
    )
    for entry in entries.order_by("id").only("id", "body"):
        if entry.body is None or f'"seq":{body["seq"]}' in entry.body:
            return {**body, "audit_id": str(entry.id)}
    return body
