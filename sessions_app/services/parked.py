"""Calls that an imported state was waiting for: told as a turn that waits for its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import call_hash
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.state.interop import ParkedKind, parked_calls

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.interop import ParkedCall

APPROVAL, QUESTION, EXTERNAL = "approval", "question", "external"
ASKING_TOOL = "ask_user"
"""The tool whose results are what a person says: its calls are questions."""

_MESSAGES = {
    APPROVAL: "The imported conversation waits for this approval.",
    QUESTION: "The imported conversation waits for this answer.",
    EXTERNAL: "The imported conversation waits for the result of this call.",
}


def parked_facts(state: AgentState, actor: Actor) -> list[NewFact]:
    """A turn of its own around the questions, so that answering them continues the reply.

    Only the newest assistant message can go on; older open calls are repaired by the next run.
    """
    waiting = parked_calls(state)
    if not waiting:
        return []
    turn_id = new_id()
    by = {"name": actor.name, "kind": str(actor.kind)}
    asked = [NewFact(FactType.INTERACTION_REQUESTED, _request(each), turn_id) for each in waiting]
    kind = _kind_of_turn({_kind(each) for each in waiting})
    ids = [fact.payload["interaction_id"] for fact in asked]
    start = NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": by}, turn_id)
    suspended = {"wait": {"kind": kind, "ids": ids}}
    return [start, *asked, NewFact(FactType.TURN_SUSPENDED, suspended, turn_id)]


def _kind(parked: ParkedCall) -> str:
    """What a call waits for, in the words of an interaction."""
    if parked.kind is ParkedKind.APPROVAL:
        return APPROVAL
    return QUESTION if parked.call.name == ASKING_TOOL else EXTERNAL


def _kind_of_turn(kinds: set[str]) -> str:
    """A turn waits for one kind: approvals first, as nothing of a step runs before them."""
    if APPROVAL in kinds:
        return APPROVAL
    return QUESTION if kinds == {QUESTION} else EXTERNAL


def _request(parked: ParkedCall) -> dict[str, Any]:
    kind, call = _kind(parked), parked.call
    question, choices = call.input.get("question"), call.input.get("choices")
    is_question = kind == QUESTION
    return {
        "interaction_id": new_id(),
        "kind": kind,
        "call_id": call.call_id,
        "tool": call.name,
        "input": call.input,
        "call_hash": call_hash(call.name, call.input),
        "suggested_rules": [rule.to_dict() for rule in parked.suggested_rules],
        "because": "imported",
        "message": question if is_question and isinstance(question, str) else _MESSAGES[kind],
        "choices": choices if is_question and isinstance(choices, list) else None,
        "expires_at": None,
    }
