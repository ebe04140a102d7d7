"""Calls that an imported state was waiting for: told as a turn that waits for its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import call_hash, last_assistant, open_calls
from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import ToolCallState, ToolResultBlock, ToolUseBlock
from agentadmin.engine.state.permissions import PermissionRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentadmin.access.actor import Actor
    from agentadmin.engine.messages import Msg
    from agentadmin.engine.state.agent_state import AgentState

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
    waiting = list(_waiting(state.context))
    if not waiting:
        return []
    turn_id = new_id()
    by = {"name": actor.name, "kind": str(actor.kind)}
    asked = [NewFact(FactType.INTERACTION_REQUESTED, _request(*each), turn_id) for each in waiting]
    kinds = {kind for kind, _ in waiting}
    ids = [fact.payload["interaction_id"] for fact in asked]
    start = NewFact(FactType.TURN_START, {"request_id": None, "input": [], "by": by}, turn_id)
    wait = {"wait": {"kind": _kind_of_turn(kinds), "ids": ids}}
    return [start, *asked, NewFact(FactType.TURN_SUSPENDED, wait, turn_id)]


def _waiting(context: Sequence[Msg]) -> Iterator[tuple[str, ToolUseBlock]]:
    """The newest message's calls that wait for somebody, and for what each does."""
    suspended = _suspended(context)
    for call in open_calls(context):
        if call.state == ToolCallState.ASKING:
            yield APPROVAL, call
        elif call.state == ToolCallState.SUBMITTED or call.id in suspended:
            yield QUESTION if call.name == ASKING_TOOL else EXTERNAL, call


def _suspended(context: Sequence[Msg]) -> set[str]:
    """Calls that have a placeholder instead of a result."""
    index = last_assistant(context)
    newest = () if index is None else context[index:]
    results = (block for message in newest for block in message.blocks(ToolResultBlock))
    return {block.id for block in results if block.suspended}


def _kind_of_turn(kinds: set[str]) -> str:
    """A turn waits for one kind: approvals first, as nothing of a step runs before them."""
    if APPROVAL in kinds:
        return APPROVAL
    return QUESTION if kinds == {QUESTION} else EXTERNAL


def _request(kind: str, call: ToolUseBlock) -> dict[str, Any]:
    message = _MESSAGES[kind]
    asked = call.input.get("question")
    choices = call.input.get("choices")
    return {
        "interaction_id": new_id(),
        "kind": kind,
        "call_id": call.id,
        "tool": call.name,
        "input": call.input,
        "call_hash": call_hash(call.name, call.input),
        "suggested_rules": list(_suggested(call)) if kind == APPROVAL else [],
        "because": "imported",
        "message": asked if kind == QUESTION and isinstance(asked, str) else message,
        "choices": choices if kind == QUESTION and isinstance(choices, list) else None,
        "expires_at": None,
    }


def _suggested(call: ToolUseBlock) -> Iterator[dict[str, Any]]:
    """What AgentScope for Python has kept beside the call; a rule that is none is left out."""
    given = call.raw.get("suggested_rules")
    for raw in given if isinstance(given, list) else ():
        try:
            yield PermissionRule.from_dict(raw, "").to_dict()
        except AgentAdminError:
            continue
