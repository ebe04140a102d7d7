"""The calls of a state that wait for somebody outside: for an approval, or for a result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.messages import Role, ToolCallState, ToolResultBlock
from agentadmin.engine.state.calls import OpenCall, open_calls
from agentadmin.engine.state.permissions import PermissionRule

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState


class ParkedKind(StrEnum):
    """What a call waits for."""

    APPROVAL = "approval"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class ParkedCall:
    """One call that waits, and the rules that were suggested with its question."""

    kind: ParkedKind
    call: OpenCall
    suggested_rules: tuple[PermissionRule, ...] = ()


def parked_calls(state: AgentState) -> list[ParkedCall]:
    """The open calls of the newest reply that wait: `asking` ones, and those handed out.

    A call was handed out when it is `submitted`, or when its result is a suspended placeholder, as
    AgentScope for Java has it. Calls after them that are still `pending` or `allowed` wait for
    nobody: the loop takes them up once these are answered. Calls of older replies can no longer be
    answered; a run repairs them.
    """
    newest = _newest_reply(state)
    placeholders = {
        block.id
        for message in state.context[newest:]
        for block in message.blocks(ToolResultBlock)
        if block.suspended
    }
    parked = []
    for call in open_calls(state):
        if call.message_index < newest:
            continue
        if call.state == ToolCallState.ASKING:
            parked.append(ParkedCall(ParkedKind.APPROVAL, call, _suggested(call)))
        elif call.state == ToolCallState.SUBMITTED or call.call_id in placeholders:
            parked.append(ParkedCall(ParkedKind.EXTERNAL, call))
    return parked


def _newest_reply(state: AgentState) -> int:
    """Where the newest assistant message stands; behind the end when there is none."""
    context = state.context
    for index in range(len(context) - 1, -1, -1):
        if context[index].role == Role.ASSISTANT:
            return index
    return len(context)


def _suggested(call: OpenCall) -> tuple[PermissionRule, ...]:
    """The suggestions that can be read; AgentScope for Java keeps none."""
    given: Any = call.block.raw.get("suggested_rules")
    rules = []
    for raw in given if isinstance(given, list) else ():
        try:
            rules.append(PermissionRule.from_dict(raw))
        except DecodeError:
            continue
    return tuple(rules)
