"""Redaction: what a message said goes for good; who spoke, when, and how calls pair up stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.messages import Block, Msg, TextBlock, ToolResultBlock, ToolUseBlock
from agentadmin.engine.messages.vocabulary import (
    CONFIRM_REPLY_ID,
    EXTERNAL_REPLY_ID,
    GENERATE_REASON,
    REMINDER_KIND,
    SUSPENDED,
    SYNTHETIC,
)
from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader

REDACTED = "agentadmin_redacted"
"""The key in a message's metadata that says that its content was redacted."""
DEFAULT_REPLACEMENT = "[redacted]"
MAX_REPLACEMENT = 2_000
_KEPT_FIELDS = ("id", "name", "role", "timestamp", "created_at", "usage")
_KEPT_BLOCK = ("type", "id", "name", "state")
_KEPT_METADATA = frozenset(
    {GENERATE_REASON, SYNTHETIC, REMINDER_KIND, CONFIRM_REPLY_ID, EXTERNAL_REPLY_ID}
)


def redacted(message: Msg, replacement: str) -> Msg:
    """The message without what it said; redacting it twice says the same."""
    raw = message.raw
    metadata = {k: v for k, v in message.metadata.items() if k in _KEPT_METADATA}
    kept = {name: raw[name] for name in _KEPT_FIELDS if name in raw}
    content = [block.raw for block in _blocks(message, replacement)]
    return Msg({**kept, "content": content, "metadata": {**metadata, REDACTED: True}})


def is_redacted(raw: Mapping[str, Any]) -> bool:
    """Whether a raw message was redacted."""
    metadata = raw.get("metadata")
    return isinstance(metadata, dict) and metadata.get(REDACTED) is True


def _blocks(message: Msg, replacement: str) -> Iterator[Block]:
    """Calls and results stay as empty pairs, everything else is one text."""
    text = TextBlock.make(replacement)
    tools = [_emptied(block, text) for block in message.content if _is_tool(block)]
    if not any(isinstance(block, ToolResultBlock) for block in tools):
        yield text
    yield from tools


def _is_tool(block: Block) -> bool:
    return isinstance(block, ToolUseBlock | ToolResultBlock)


def _emptied(block: Block, text: TextBlock) -> Block:
    kept: dict[str, Any] = {k: v for k, v in block.raw.items() if k in _KEPT_BLOCK}
    if isinstance(block, ToolResultBlock):
        metadata = {SUSPENDED: True} if block.suspended else {}
        return ToolResultBlock({**kept, "output": [text.raw], "metadata": metadata})
    empty = "{}" if isinstance(block.raw.get("input"), str) else {}
    return ToolUseBlock({**kept, "input": empty, "content": None, "metadata": {}})


def _redact(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Every message of this id; one that is only in the history is erased there alone."""
    message_id = message_id_of(operation)
    replacement = replacement_of(operation)
    context = state.context_mutable()
    places = [index for index, message in enumerate(context) if message.id == message_id]
    if not places and not operation.boolean("in_history"):
        raise InvalidOperation(f"there is no message {message_id:.60}", path="message_id")
    for index in places:
        context[index] = redacted(context[index], replacement)


def message_id_of(operation: Reader) -> str:
    """Which message is meant."""
    message_id = operation.required_text("message_id")
    if not message_id:
        raise operation.refuse("message_id", "must not be blank")
    return message_id


def replacement_of(operation: Reader) -> str:
    """What stands in place of the content."""
    text = operation.text("replacement")
    if text is not None and len(text) > MAX_REPLACEMENT:
        raise operation.refuse("replacement", f"must have at most {MAX_REPLACEMENT} characters")
    return text if text and text.strip() else DEFAULT_REPLACEMENT


REDACT_MESSAGE = OperationSpec(
    name="redact_message",
    permission="sessions:redact",
    substates=frozenset({"context"}),
    change=_redact,
    fields=frozenset({"message_id", "replacement"}),
    given=frozenset({"in_history"}),
)
