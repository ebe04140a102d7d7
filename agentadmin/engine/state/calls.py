"""Tool calls of a context: which are open, and how the open ones are closed.

Pairing walks the blocks in order, never the roles: AgentScope for Python keeps calls and results in
one message. Providers reuse call ids, so a result closes the oldest open call of its id.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    Block,
    Msg,
    Role,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
    tool_message,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agentadmin.engine.state.agent_state import AgentState


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without a result, and where it stands."""

    call_id: str
    name: str
    state: str
    """A `ToolCallState`, or the raw value of an unknown one."""
    message_index: int
    block_index: int
    message_id: str | None
    block: ToolUseBlock

    @property
    def input(self) -> dict[str, Any]:
        return self.block.input


def numbered_blocks(messages: Iterable[Msg]) -> Iterator[tuple[int, int, Msg, Block]]:
    """Every block with the indices of its message and of itself."""
    for message_index, message in enumerate(messages):
        for block_index, block in enumerate(message.content):
            yield message_index, block_index, message, block


def open_calls(state: AgentState) -> list[OpenCall]:
    """The calls without a result, in order; a suspended placeholder is no result."""
    waiting: defaultdict[str, list[OpenCall]] = defaultdict(list)
    for message_index, block_index, message, block in numbered_blocks(state.context):
        if isinstance(block, ToolUseBlock):
            waiting[block.id].append(
                OpenCall(
                    block.id, block.name, block.state, message_index, block_index, message.id, block
                )
            )
        elif isinstance(block, ToolResultBlock) and not block.suspended:
            del waiting[block.id][:1]
    calls = [call for group in waiting.values() for call in group]
    return sorted(calls, key=lambda call: (call.message_index, call.block_index))


def cancel_pending(
    state: AgentState, text: str, call_ids: Collection[str] | None = None
) -> AgentState:
    """Closes open calls, all or those named, with `interrupted` results of this text.

    `{name}` in the text stands for the tool's name. The calls become `finished`.
    """
    calls = [call for call in open_calls(state) if call_ids is None or call.call_id in call_ids]
    return close_calls(state, [(call, text) for call in calls], ToolResultState.INTERRUPTED)


def close_calls(
    state: AgentState, answers: Sequence[tuple[OpenCall, str]], result_state: ToolResultState
) -> AgentState:
    """Finishes calls with a result each: in place of its placeholder, else after its siblings'."""
    closed = state.copy()
    messages = closed.context_mutable()
    # From the last call to the first, so that the indices of earlier ones stay true.
    for call, text in sorted(answers, key=lambda pair: -pair[0].message_index):
        message = messages[call.message_index]
        finished = (
            messages[call.message_index]
            .content[call.block_index]
            .replace(state=ToolCallState.FINISHED.value)
        )
        messages[call.message_index] = message.with_block(call.block_index, finished)
        result = ToolResultBlock.make(
            id=call.call_id,
            name=call.name,
            output=text.replace("{name}", call.name),
            state=result_state,
        )
        _put_result(messages, call, result, message.name or "")
    return closed


def _put_result(messages: list[Msg], call: OpenCall, result: ToolResultBlock, name: str) -> None:
    for later in range(call.message_index, len(messages)):
        for place, block in enumerate(messages[later].content):
            if later == call.message_index and place < call.block_index:
                continue  # a placeholder before its call answers nothing
            if isinstance(block, ToolResultBlock) and block.suspended and block.id == result.id:
                messages[later] = messages[later].with_block(place, result)
                return
    messages.insert(_after_results(messages, call.message_index), tool_message(result, name=name))


def _after_results(messages: Sequence[Msg], index: int) -> int:
    index += 1
    while index < len(messages) and messages[index].role == Role.TOOL:
        index += 1
    return index
