"""Steering: telling a turn something while it has not ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.engine.journal.facts import FactType, NewFact
from runs_app.policies import STEER
from runs_app.selectors.turns import turn_detail
from runs_app.services.commits import append_facts
from runs_app.services.inputs import checked_input
from runs_app.services.receipts import Receipt, once
from runs_app.services.turn_commands import (
    by_of,
    held_turn,
    is_worked_on,
    require_allowed,
    settled,
)
from runs_app.states import TurnCommand
from sessions_app import mailbox
from sessions_app.services.idempotency import Once
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.access.actor import Actor
    from agentadmin.engine.messages import Msg
    from runs_app.models import Turn
    from sessions_app.models import AgentThread


def steer_turn(*, actor: Actor, turn_id: str, input: Any, request_id: str | None = None) -> Receipt:
    """Tell a turn something. A run reads it before its next request; others when they go on.

    What was accepted is in the journal: a turn is not done before it has read it.
    """
    turn = turn_detail(actor, turn_id, STEER)
    messages = checked_input(input)
    given = Once.of(actor, "steerTurn", turn.id, request_id, {"input": input})
    return once(given, lambda key: _steer(actor, turn, messages, request_id, key))


@transaction.atomic
def _steer(
    actor: Actor, turn: Turn, messages: Sequence[Msg], request_id: str | None, key: Once
) -> Receipt:
    thread = held_turn(turn)
    require_allowed(turn, TurnCommand.STEER)
    control_id = _control(actor, thread, turn) if is_worked_on(thread, turn) else None
    told = {
        "request_id": request_id,
        "input": [message.raw for message in messages],
        "by": by_of(actor),
        "control_id": control_id,
    }
    append_facts(thread, NewFact(FactType.INPUT_RECEIVED, told, turn.id))
    text = "\n".join(message.text for message in messages)
    return settled(actor, thread, turn, key, TurnCommand.STEER, control_id=control_id, message=text)


def _control(actor: Actor, thread: AgentThread, turn: Turn) -> str:
    control = mailbox.request_control(
        thread=thread,
        kind=ControlKind.STEER,
        actor=actor,
        reason="",
        run_id=thread.active_run_id,
        turn_id=turn.id,
    )
    return str(control.id)
