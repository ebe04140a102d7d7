"""What happens during a call: turns, runs, questions, how agents are built, demo orders.

`Turn`, `Run` and `Interaction` are projections of the journal's facts: only `recorder` writes them,
inside the commit that appends the facts. Texts with structure are the codec's canonical JSON.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from runs_app.states import InteractionStatus, RunStatus, TurnState
from sessions_app.models import AgentThread


class Turn(models.Model):
    """One submitted task; `revision` counts its own transitions."""

    id = models.TextField(primary_key=True)
    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, db_index=False)
    start_seq = models.BigIntegerField()
    """The seq of its `turn/start`: the place in the queue, and where the input stands."""
    state = models.CharField(max_length=10, default=TurnState.QUEUED)
    wait_kind = models.CharField(max_length=12, null=True)  # noqa: DJ001 - waits for nothing
    wait_ids = models.TextField(default="[]")
    outcome = models.CharField(max_length=16, null=True)  # noqa: DJ001 - has not ended
    revision = models.PositiveIntegerField(default=1)
    request_id = models.TextField(null=True)  # noqa: DJ001 - came without one
    input_preview = models.TextField(default="")
    steering = models.TextField(default="[]", db_default="[]")
    """Seqs of the `input/received` facts that the turn has not taken yet."""
    actor_name = models.TextField(default="")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    reply = models.TextField(null=True)  # noqa: DJ001 - has no reply
    error = models.TextField(null=True)  # noqa: DJ001 - did not fail

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "start_seq"], name="turn_place"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.state}"


class Run(models.Model):
    """One execution of a turn by one worker."""

    id = models.TextField(primary_key=True)
    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, db_index=False)
    turn_id = models.TextField(null=True)  # noqa: DJ001 - a direct call may have no turn
    attempt = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=12, default=RunStatus.RUNNING)
    worker = models.TextField(default="")
    why = models.CharField(max_length=12, default="")
    agent = models.TextField(default="null")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    reason = models.TextField(null=True)  # noqa: DJ001 - ended by itself
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    model_calls = models.PositiveIntegerField(default=0)
    first_error = models.TextField(null=True)  # noqa: DJ001 - nothing failed
    start_seq = models.BigIntegerField()
    end_seq = models.BigIntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["thread", "start_seq"], name="run_of_thread"),
            models.Index(fields=["-started_at", "-id"], name="run_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.status}"


class Interaction(models.Model):
    """A question to a person: an approval, a question, or work done elsewhere."""

    id = models.TextField(primary_key=True)
    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, db_index=False)
    turn_id = models.TextField(null=True)  # noqa: DJ001 - a direct call may have no turn
    run_id = models.TextField(null=True)  # noqa: DJ001 - asked outside of a run
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=24)
    tool = models.TextField(default="")
    call_id = models.TextField(default="")
    input = models.TextField(default="{}")
    call_hash = models.CharField(max_length=64, default="")
    suggested_rules = models.TextField(default="[]")
    choices = models.TextField(default="null")
    because = models.TextField(default="")
    message = models.TextField(default="")
    status = models.CharField(max_length=12, default=InteractionStatus.PENDING)
    decided_by = models.TextField(null=True)  # noqa: DJ001 - nobody has decided
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(null=True)  # noqa: DJ001 - no reason was given
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["thread", "seq"], name="interaction_of_thread"),
            models.Index(
                fields=["created_at", "id"],
                name="interaction_open",
                condition=Q(status=InteractionStatus.PENDING),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}"


class AgentDefinition(models.Model):
    """One version of how an agent is built; a change is a new row."""

    agent_id = models.TextField()
    version = models.PositiveIntegerField(default=1)
    name = models.TextField()
    factory = models.TextField(default="", blank=True)
    """The dotted path `package.module:function` of a function that returns a builder; empty where
    `definition` says everything."""
    description = models.TextField(default="")
    definition = models.TextField(default="{}")
    is_current = models.BooleanField(default=True)
    is_retired = models.BooleanField(default=False)
    """No new run begins with it; what is under way goes on."""
    actor_name = models.TextField(default="")
    reason = models.TextField(default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent_id"], condition=Q(is_current=True), name="agent_current"
            ),
            models.UniqueConstraint(fields=["agent_id", "version"], name="agent_version"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} v{self.version}"


class DemoOrder(models.Model):
    """An order of the pretended external system behind `create_order`.

    One call never makes two orders: the pretended system recognises the call, and counts how often
    it was asked, so that everybody can see what reached it.
    """

    thread = models.ForeignKey(AgentThread, on_delete=models.CASCADE, db_index=False)
    turn_id = models.TextField(default="")
    call_id = models.TextField()
    sku = models.TextField()
    quantity = models.PositiveIntegerField(default=1)
    times_asked = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread", "turn_id", "call_id"], name="order_once_per_call"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.sku}"
