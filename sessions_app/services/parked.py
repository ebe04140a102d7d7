"""Calls that an imported state was asking about: told as a turn that waits for its approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.agents.calls import call_hash, open_calls
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import ToolCallState

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.messages import ToolUseBlock
    from agentadmin.engine.state.agent_state import AgentState


def parked_facts(state: AgentState, actor: Actor) -> list[NewFact]:
    """A turn of its own around the questions, so that answering them continues the reply.

    Only the newest assistant message can go on; older open calls are repaired by the next run.
    """
    asking = [call for call in open_calls(state.context) if call.state == ToolCallState.ASKING]
    if not asking:
        return []
    turn_id = new_id()
    by = {"name": actor.name, "kind": str(actor.kind)}
    questions = [_question(turn_id, call) for call in asking]
    ids = [question.payload["interaction_id"] for question in questions]
    start = NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": by}, turn_id)
    wait = {"wait": {"kind": "approval", "ids": ids}}
    return [start, *questions, NewFact(FactType.TURN_SUSPENDED, wait, turn_id)]


def _question(turn_id: str, call: ToolUseBlock) -> NewFact:
    return NewFact(
        FactType.INTERACTION_REQUESTED,
        {
            "interaction_id": new_id(),
            "kind": "approval",
            "call_id": call.id,
            "tool": call.name,
            "input": call.input,
            "call_hash": call_hash(call.name, call.input),
            "suggested_rules": [],
            "because": "imported",
            "message": "The imported conversation waits for this approval.",
            "expires_at": None,
        },
        turn_id,
    )
