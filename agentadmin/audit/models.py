"""Tables of the audit log: one row per entry, one head per chain.

The format is final: `format.py` says what the hashes are taken over. The columns behind `hash`
repeat what header or body says, so that lists can be filtered; `verify` compares them.
"""

from __future__ import annotations

from django.db import models


class AuditChain(models.Model):
    """The head of one chain; whoever appends holds this row until COMMIT."""

    chain = models.CharField(primary_key=True, max_length=300)
    n = models.PositiveBigIntegerField(default=0)
    head_hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.chain} at {self.n}"


class AuditEntry(models.Model):
    """One thing that somebody did, tried or read; only erasure of a body ever changes a row."""

    id = models.UUIDField(primary_key=True)
    chain = models.CharField(max_length=300)
    n = models.PositiveBigIntegerField()
    header = models.TextField()
    body = models.TextField(null=True)  # noqa: DJ001 - NULL is "erased", "" would be a body
    salt = models.BinaryField(null=True)
    body_commit = models.CharField(max_length=64)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    namespace = models.CharField(max_length=256, null=True)  # noqa: DJ001 - NULL is the system's
    at = models.DateTimeField()
    actor = models.CharField(max_length=300)
    actor_id = models.CharField(max_length=64)
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=400)
    within = models.CharField(max_length=300)
    agent_id = models.CharField(max_length=256)
    outcome = models.CharField(max_length=8)
    trace_id = models.CharField(max_length=64)
    # Content: these two go with the body when a person is erased.
    reason = models.TextField(null=True)  # noqa: DJ001
    target_label = models.TextField(null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "n"], name="audit_entry_chain_n"),
            models.CheckConstraint(
                condition=models.Q(body__isnull=True, salt__isnull=True)
                | models.Q(body__isnull=False, salt__isnull=False),
                name="audit_entry_body_with_salt",
            ),
        ]
        indexes = [
            models.Index(fields=["within", "id"], name="audit_entry_within"),
            models.Index(fields=["target", "id"], name="audit_entry_target"),
            models.Index(fields=["actor", "id"], name="audit_entry_actor"),
            models.Index(fields=["action", "id"], name="audit_entry_action"),
            models.Index(fields=["trace_id", "id"], name="audit_entry_request"),
            models.Index(
                fields=["outcome", "id"],
                condition=~models.Q(outcome="allowed"),
                name="audit_entry_not_allowed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.chain} {self.n}: {self.action}"
