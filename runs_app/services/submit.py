"""Submitting a turn: accepted and committed in order before anything is dispatched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.dispatch import dispatch_on_commit
from runs_app.models import Turn
from runs_app.policies import SUBMIT, target_within
from runs_app.selectors.turns import turns_ahead
from runs_app.services.commits import append_facts
from runs_app.services.inputs import checked_input
from runs_app.services.receipts import Receipt, once, remember
from runs_app.states import TurnState
from sessions_app.policies import require_thread
from sessions_app.services.idempotency import Once

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread


def submit_turn(
    *, actor: Actor, thread: AgentThread, input: Any, request_id: str | None = None
) -> Receipt:
    """Queue one turn behind the others of its thread. A parked thread keeps it in the queue."""
    require_thread(actor, SUBMIT, thread)
    messages = checked_input(input)
    given = Once.of(actor, "submitTurn", str(thread.id), request_id, {"input": input})
    payload = {
        "request_id": request_id,
        "input": [message.raw for message in messages],
        "by": {"name": actor.name, "kind": str(actor.kind)},
    }
    return once(given, lambda key: _accept(actor, thread, payload, key))


@transaction.atomic
def _accept(actor: Actor, thread: AgentThread, payload: dict[str, Any], key: Once) -> Receipt:
    turn_id = new_id()
    append_facts(thread, NewFact(FactType.TURN_START, payload, turn_id))
    position = turns_ahead(Turn.objects.get(id=turn_id))
    receipt = Receipt(turn_id, TurnState.QUEUED, revision=1, position=position)
    remember(key, receipt)
    dispatch_on_commit(str(thread.id))
    append(
        NewEntry(
            namespace=thread.session.namespace,
            actor=actor,
            action="turns.submit",
            target=target_within(thread, "turn", turn_id),
            outcome=Outcome.ALLOWED,
            content={"position": position},
        )
    )
    return receipt
