"""A cheap estimate of how many tokens a message takes in a request (spec §7.1)."""

from __future__ import annotations

from agentadmin.engine.messages import Block, Msg, TextBlock, ToolResultBlock, ToolUseBlock
from agentadmin.engine.state import codec

PER_MESSAGE = 5
PER_CALL = 10
PER_RESULT = 8
OTHER_BLOCK = 5


def _chars(count: int) -> int:
    """2.5 characters a token, rounded up."""
    return (2 * count + 4) // 5


def _block_tokens(block: Block) -> int:
    if isinstance(block, TextBlock):
        return _chars(len(block.text))
    if isinstance(block, ToolUseBlock):
        return PER_CALL + _chars(len(block.name) + len(codec.dumps(block.input)))
    if isinstance(block, ToolResultBlock):
        return PER_RESULT + sum(_block_tokens(part) for part in block.output)
    return OTHER_BLOCK


def estimate(message: Msg) -> int:
    """Estimated tokens of one message."""
    return PER_MESSAGE + sum(_block_tokens(block) for block in message.content)
