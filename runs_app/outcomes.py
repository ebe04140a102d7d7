"""The tool message that a person's account of a call's outcome becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import OUTCOME, last_assistant
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.messages import Block, TextBlock, ToolResultBlock, ToolResultState
from agentadmin.engine.messages import tool_message as as_tool_message
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.messages import Msg

STATES = (ToolResultState.SUCCESS, ToolResultState.ERROR, ToolResultState.INTERRUPTED)


def outcome_message(context: Sequence[Msg], call_id: str, tool: str, told: Any) -> Msg:
    """The result `{output, state}` of a call, marked as told by a person."""
    path = f"results.{call_id}"
    if not isinstance(told, dict):
        raise InvalidInput("must be an object with output and state", path=path)
    state = told.get("state", ToolResultState.SUCCESS.value)
    if state not in {s.value for s in STATES}:
        known = ", ".join(s.value for s in STATES)
        raise InvalidInput(f"must be one of {known}", path=f"{path}.state")
    index = last_assistant(context)
    block = ToolResultBlock.make(
        id=call_id,
        name=tool,
        output=_output(told.get("output"), f"{path}.output"),
        metadata={OUTCOME: "told"},
        state=state,
    )
    return as_tool_message(block, name=(context[index].name or "") if index is not None else "")


def _output(value: Any, path: str) -> list[Block]:
    if value is None:
        raise InvalidInput("is needed: what became of the call", path=path)
    if isinstance(value, list):
        return [Block.from_dict(raw, f"{path}[{index}]") for index, raw in enumerate(value)]
    return [TextBlock.make(value if isinstance(value, str) else codec.dumps(value))]
