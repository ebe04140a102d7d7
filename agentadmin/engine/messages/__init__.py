"""Messages and their content blocks, lossless in both layouts of AgentScope."""

from __future__ import annotations

from agentadmin.engine.messages.blocks import (
    AudioBlock,
    Block,
    DataBlock,
    HintBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    VideoBlock,
    base64_source,
    text_of,
    url_source,
    wrap,
)
from agentadmin.engine.messages.message import (
    Msg,
    assistant_message,
    system_message,
    tool_message,
    user_message,
)
from agentadmin.engine.messages.vocabulary import (
    FinishReason,
    Role,
    ToolCallState,
    ToolResultState,
)

__all__ = [
    "AudioBlock",
    "Block",
    "DataBlock",
    "FinishReason",
    "HintBlock",
    "ImageBlock",
    "Msg",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallState",
    "ToolResultBlock",
    "ToolResultState",
    "ToolUseBlock",
    "UnknownBlock",
    "VideoBlock",
    "assistant_message",
    "base64_source",
    "system_message",
    "text_of",
    "tool_message",
    "url_source",
    "user_message",
    "wrap",
]
