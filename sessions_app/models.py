"""What an agent is between calls: identity, head, facts, snapshots, mailbox (design §3).

Payloads, substates and bodies are canonical text written by the engine's codec, never JSONField:
jsonb refuses NUL, reorders keys and changes numbers. Only `journal`, `mailbox` and `state_store`
write these tables.
"""

from __future__ import annotations

from uuid import UUID

from django.db import models

from agentadmin.engine.identity import new_id
from sessions_app.states import OPEN_JOBS, ControlState, JobState, ThreadStatus


def uuid7() -> UUID:
    """A public row id that sorts by the time of its making."""
    return UUID(new_id())


def one_of(name: str) -> models.UniqueConstraint:
    """One row for each identity; `unique=True` would add a second index for LIKE to every write."""
    return models.UniqueConstraint(fields=["identity_hash"], name=name)


class AgentSession(models.Model):
    """One conversation: (namespace, user or nobody, session id)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    namespace = models.TextField()
    user_id = models.TextField(null=True)  # noqa: DJ001 - nobody is not a user called ""
    session_id = models.TextField()
    identity_hash = models.CharField(max_length=64)
    agent_id = models.TextField()
    """The agent of the first thread; lists show and filter it."""
    status = models.CharField(max_length=10, default=ThreadStatus.IDLE)
    thread_count = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField()
    erasing_since = models.DateTimeField(null=True)
    """Set when its erasure was asked for: from then on it takes no command."""
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [one_of("session_identity")]
        indexes = [
            models.Index(fields=["-updated_at", "-id"], name="session_recent"),
            # What lists filter by, each in the order in which they show it. Every turn writes all
            # of them anew (0.15 KB each), so there is none for agents: there are few of those, and
            # the newest sessions soon hold fifty of each.
            models.Index(fields=["status", "-updated_at", "namespace"], name="session_status"),
            models.Index(fields=["namespace", "-updated_at"], name="session_namespace"),
            models.Index(
                fields=["user_id", "-updated_at"],
                name="session_user",
                condition=models.Q(user_id__isnull=False),
            ),
            models.Index(fields=["session_id"], name="session_name"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id or 'anonymous'} / {self.session_id}"


class AgentThread(models.Model):
    """One agent's continuing context in a session: its head, its lease, its queue counters."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="threads")
    agent_id = models.TextField()
    thread_id = models.TextField(default="main")
    identity_hash = models.CharField(max_length=64)

    head_seq = models.BigIntegerField(default=0)
    version = models.BigIntegerField(default=0)
    lease_owner = models.TextField(null=True)  # noqa: DJ001 - nobody holds it
    lease_epoch = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)

    status = models.CharField(max_length=10, default=ThreadStatus.IDLE)
    active_run_id = models.TextField(null=True)  # noqa: DJ001 - no run is active
    active_turn_id = models.TextField(null=True)  # noqa: DJ001 - no turn is at the head
    queued_turns = models.PositiveIntegerField(default=0)
    pending_controls = models.PositiveIntegerField(default=0)
    pending_interactions = models.PositiveIntegerField(default=0)
    runnable_since = models.DateTimeField(null=True)
    """Set while the head turn can go on; the sweep looks for it without a live lease."""
    dispatched_at = models.DateTimeField(null=True)

    context_messages = models.PositiveIntegerField(default=0)
    context_tokens = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    turns = models.PositiveIntegerField(default=0)
    forked_from = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, db_index=False, related_name="forks"
    )
    """The thread that this one began as a copy of; its first fact says so too."""
    forked_version = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [one_of("thread_identity")]
        indexes = [
            models.Index(
                fields=["forked_from"],
                name="thread_forks",
                condition=models.Q(forked_from__isnull=False),
            ),
            models.Index(
                fields=["runnable_since"],
                name="thread_runnable",
                condition=models.Q(runnable_since__isnull=False),
            ),
            # Not over the lease: claims and renewals would then write every index of the row.
            models.Index(
                fields=["dispatched_at"],
                name="thread_controls",
                condition=models.Q(pending_controls__gt=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} / {self.thread_id}"


class JournalFact(models.Model):
    """What happened, append-only; erasure leaves a tombstone and the commitment."""

    pk = models.CompositePrimaryKey("thread_id", "seq")
    # The journal inserts only under the thread's own row: a constraint would look it up again.
    thread = models.ForeignKey(
        AgentThread, on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    seq = models.BigIntegerField()
    type = models.CharField(max_length=64)
    turn_id = models.TextField(null=True)  # noqa: DJ001 - a fact of no turn
    run_id = models.TextField(null=True)  # noqa: DJ001 - a fact of no run
    step_id = models.TextField(null=True)  # noqa: DJ001 - a fact of no step
    required = models.BooleanField(default=True)
    payload = models.TextField(null=True)  # noqa: DJ001 - NULL: it stands in Payload
    salt = models.BinaryField(max_length=16, null=True)
    payload_commit = models.BinaryField(max_length=32)
    occurred_at = models.DateTimeField()
    epoch = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class StateSnapshot(models.Model):
    """A committed version of AgentState: all but the messages, and which messages it holds."""

    pk = models.CompositePrimaryKey("thread_id", "version")
    thread = models.ForeignKey(
        AgentThread, on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    version = models.BigIntegerField()
    seq = models.BigIntegerField()
    substate = models.TextField(null=True)  # noqa: DJ001 - NULL: as in substate_version
    substate_version = models.BigIntegerField()
    """The version whose row holds the substate's text; most turns change only messages."""
    substate_salt = models.BinaryField(max_length=16, null=True)
    substate_commit = models.BinaryField(max_length=32)
    replaced_seq = models.BigIntegerField()
    digest = models.BinaryField(max_length=32)
    reason = models.TextField()
    actor = models.TextField()
    messages = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"v{self.version}"


class Payload(models.Model):
    """A payload over 64 KiB or an imported source document, found by its commitment."""

    pk = models.CompositePrimaryKey("thread_id", "commit")
    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, db_index=False)
    commit = models.BinaryField(max_length=32)
    salt = models.BinaryField(max_length=16, null=True)
    text = models.TextField(null=True)  # noqa: DJ001 - NULL: erased

    def __str__(self) -> str:
        return bytes(self.commit).hex()


class StateEntry(models.Model):
    """One value of a state store: snapshot mode, and the other keys of a store."""

    namespace = models.TextField()
    user_id = models.TextField(null=True)  # noqa: DJ001 - nobody is not a user called ""
    session_id = models.TextField()
    key = models.TextField()
    identity_hash = models.CharField(max_length=64)
    version = models.BigIntegerField(default=1)
    value = models.TextField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [one_of("entry_identity")]

    def __str__(self) -> str:
        return f"{self.session_id} {self.key}"


class ControlRequest(models.Model):
    """The mailbox: one command to a thread, its four times, its result."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, related_name="controls")
    kind = models.CharField(max_length=16)
    run_id = models.TextField(null=True)  # noqa: DJ001 - whatever runs
    turn_id = models.TextField(null=True)  # noqa: DJ001 - whatever turn is at the head
    payload = models.TextField(default="{}")
    actor = models.TextField()
    """Canonical JSON of who asked: what the audit entry of the effect needs."""
    actor_name = models.TextField()
    reason = models.TextField()
    state = models.CharField(max_length=12, default=ControlState.REQUESTED)
    requested_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    effective_at = models.DateTimeField(null=True)
    result = models.TextField(default="{}")

    class Meta:
        indexes = [
            models.Index(
                fields=["thread", "id"],
                name="control_open",
                condition=models.Q(state__in=["requested", "delivered", "acknowledged"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"


class IdempotencyKey(models.Model):
    """The first committed answer of a write; refusals are not remembered."""

    actor = models.TextField()
    route = models.TextField()
    target = models.TextField()
    key = models.TextField()
    identity_hash = models.CharField(max_length=64)
    """Over (actor, route, target, key): long keys would overflow a composite index."""
    body_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    answer = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [one_of("key_identity")]

    def __str__(self) -> str:
        return f"{self.route} {self.key}"


class Job(models.Model):
    """Work that takes a worker a while: what it is, how far it has come, and what came of it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=16)
    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="jobs")
    state = models.CharField(max_length=10, default=JobState.QUEUED)
    actor = models.TextField()
    """Canonical JSON of who asked: what the audit entry of the effect needs."""
    actor_name = models.TextField()
    reason = models.TextField()
    step = models.TextField(default="")
    """What it does now, in words."""
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    result = models.TextField(default="{}")
    error = models.TextField(default="")
    attempts = models.PositiveIntegerField(default=0)
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    """Until then a worker is at it; afterwards another one begins again."""

    class Meta:
        indexes = [
            models.Index(
                fields=["lease_until"], name="job_open", condition=models.Q(state__in=OPEN_JOBS)
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"
