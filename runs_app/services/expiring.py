"""Questions that nobody answered in time: denied by the product, so that their turns go on."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from agentadmin.access.actor import Actor
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.clock import now
from agentadmin.engine.errors import AlreadyDecided
from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.dispatch import dispatch_on_commit
from runs_app.models import Interaction
from runs_app.policies import target_within
from runs_app.services.commits import append_facts, locked
from runs_app.states import Decision, InteractionStatus

MOST = 200
"""Of one sweep; the next one takes the others."""
REASON = "Nobody answered in time."
SWEEPER = "expiry"


def expire_overdue() -> int:
    """Deny every question whose time is over; how many this process did."""
    return sum(map(expire, _overdue()))


def _overdue() -> list[Interaction]:
    rows = Interaction.objects.filter(status=InteractionStatus.PENDING, expires_at__lte=now())
    return list(rows.select_related("thread__session").order_by("created_at", "id")[:MOST])


def is_overdue(asked: Interaction) -> bool:
    """Whether a question that nobody has swept yet may no longer be answered."""
    return asked.expires_at is not None and asked.expires_at <= now()


def expire(asked: Interaction) -> bool:
    """Deny one question; False when somebody else decided in the same moment."""
    try:
        _resolve(asked)
    except AlreadyDecided:
        return False
    return True


@transaction.atomic
def _resolve(asked: Interaction) -> None:
    thread = locked(asked.thread)
    resolved: dict[str, Any] = {
        "interaction_id": asked.id,
        "decision": Decision.EXPIRED,
        "by": None,
        "reason": REASON,
        "answer": None,
        "rules": [],
        "input": None,
    }
    append_facts(
        thread, NewFact(FactType.INTERACTION_RESOLVED, resolved, asked.turn_id, asked.run_id)
    )
    dispatch_on_commit(str(thread.id))
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=Actor.system(SWEEPER),
            action="interactions.expire",
            target=target_within(thread, "interaction", asked.id),
            outcome=Outcome.ALLOWED,
            reason=REASON,
            content={"tool": asked.tool, "call_id": asked.call_id, "call_hash": asked.call_hash},
        )
    )
