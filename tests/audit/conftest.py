"""Entries to append and chains to tamper with."""

from collections.abc import Callable, Iterator

import pytest
from django.db import transaction

from agentadmin.access.actor import Actor, ActorKind
from agentadmin.audit import later
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.models import AuditEntry

ALICE = Actor(kind=ActorKind.USER, id="7", name="alice", address="192.0.2.1", trace_id="t-1")
Write = Callable[..., AuditEntry]


def new_entry(
    *,
    namespace: str | None = "default",
    actor: Actor = ALICE,
    action: str = "sessions.clear",
    target_id: str = "s-1",
    agent_id: str = "demo",
    label: str = "bob / holiday",
    reason: str | None = "runs in circles",
    outcome: Outcome = Outcome.ALLOWED,
) -> NewEntry:
    target = Target(kind="session", id=target_id, within=target_id, agent_id=agent_id, label=label)
    return NewEntry(
        namespace=namespace,
        actor=actor,
        action=action,
        target=target,
        outcome=outcome,
        reason=reason,
        content={"before": {"messages": 37}, "after": {"messages": 0}},
    )


@pytest.fixture
def write() -> Write:
    def _write(**given: object) -> AuditEntry:
        with transaction.atomic():
            return append(new_entry(**given))  # type: ignore[arg-type]

    return _write


@pytest.fixture(autouse=True)
def no_entry_left_waiting() -> Iterator[None]:
    later.discard()
    yield
    later.discard()
