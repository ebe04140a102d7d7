"""Steering: what a turn is told after it was submitted becomes user messages at a safe point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.agents.calls import open_calls
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import Msg

if TYPE_CHECKING:
    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.journal.facts import Fact


def take(run: Execution) -> None:
    """Append what the turn was told; no message may stand between a call and its result.

    The facts that say so go out with the next commit, as the messages do.
    """
    told = unread(run)
    if not told or open_calls(run.state.context_mutable()):
        return
    for fact in told:
        messages = [Msg(raw) for raw in fact.payload["input"]]
        run.log.bind_inputs(messages, fact.seq)
        run.state.context_mutable().extend(messages)
        run.steered.add(fact.seq)
        applied = {"seq": fact.seq, "control_id": fact.payload.get("control_id")}
        run.later([run.log.fact(FactType.INPUT_APPLIED, applied)])


def unread(run: Execution) -> list[Fact]:
    """What this run has still to take."""
    told = run.log.unread(run.admission.turn_id)
    return [fact for fact in told if fact.seq not in run.steered]
