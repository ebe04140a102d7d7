"""Tool calls in a context: which are open, and the messages that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    Msg,
    Role,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
    tool_message,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.state.agent_state import AgentState

CONFIRMED = "agentadmin.confirmed"
"""Metadata of a call that a person approved: the hash of exactly what was approved."""

OUTCOME = "agentadmin.outcome"
"""Metadata of a result that nobody knows: `unknown`."""

PARTIAL = "agentadmin.partial"
"""Metadata of an answer that was cut off while it was written: by an interrupt or a shutdown."""

NOT_RUN = "[ERROR] Tool execution was interrupted before it could run. Tool: {name}"
CUT_SHORT = "[ERROR] Tool execution was interrupted while it ran. Tool: {name}"
UNKNOWN = "[ERROR] The outcome of this call is unknown: its turn was cancelled. Tool: {name}"


def call_hash(name: str, arguments: Mapping[str, Any]) -> str:
    """Binds an approval to one tool with exactly these arguments."""
    return codec.sha256(codec.dumps({"tool": name, "input": arguments}))


def last_assistant(context: Sequence[Msg]) -> int | None:
    """Where the newest assistant message stands."""
    for index in range(len(context) - 1, -1, -1):
        if context[index].role == Role.ASSISTANT:
            return index
    return None


def open_calls(context: Sequence[Msg]) -> list[ToolUseBlock]:
    """Calls of the newest assistant message that have no result yet, in their order.

    Any result but a suspended placeholder is one: older agents stored theirs without a state, and
    a call that has a result is never run again.
    """
    index = last_assistant(context)
    if index is None:
        return []
    calls = context[index].blocks(ToolUseBlock)
    if not calls:
        return []
    answered = {
        block.id
        for message in context[index:]
        for block in message.blocks(ToolResultBlock)
        if not block.suspended
    }
    return [call for call in calls if call.id not in answered]


def call_ids(context: Sequence[Msg]) -> set[str]:
    """Every call id that the context holds."""
    return {call.id for message in context for call in message.blocks(ToolUseBlock)}


def replace_calls(state: AgentState, changed: Mapping[str, ToolUseBlock]) -> None:
    """Put changed calls into the newest assistant message, which keeps its id and place."""
    context = state.context_mutable()
    index = last_assistant(context)
    if index is None or not changed:
        return
    message = context[index]
    blocks = [
        changed.get(block.id, block) if isinstance(block, ToolUseBlock) else block
        for block in message.content
    ]
    context[index] = message.with_content(blocks)


def confirmed(call: ToolUseBlock) -> bool:
    """Whether a person approved exactly this call."""
    return call.state == ToolCallState.ALLOWED and call.metadata.get(CONFIRMED) == call_hash(
        call.name, call.input
    )


def result_message(
    call: ToolUseBlock, text: str, state: ToolResultState, *, name: str, **metadata: Any
) -> Msg:
    """The tool message that answers a call with a sentence."""
    block = ToolResultBlock.make(
        id=call.id, name=call.name, output=text, metadata=metadata, state=state
    )
    return tool_message(block, name=name)


def interrupted_result(call: ToolUseBlock, *, name: str, text: str = NOT_RUN) -> Msg:
    """The result of a call that an interrupt stopped."""
    return result_message(call, text.format(name=call.name), ToolResultState.INTERRUPTED, name=name)
