"""The engine: agents with durable state, usable without Django.

The public names are loaded on first use, so that importing one module of the engine does not load
the others. To publish a name, add it to `_MODULES`, to the `TYPE_CHECKING` imports and to `__all__`
(a test compares the three).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentadmin.engine.messages import (
        AudioBlock,
        Block,
        DataBlock,
        FinishReason,
        HintBlock,
        ImageBlock,
        Msg,
        Role,
        TextBlock,
        ThinkingBlock,
        ToolCallState,
        ToolResultBlock,
        ToolResultState,
        ToolUseBlock,
        UnknownBlock,
        VideoBlock,
        assistant_message,
        system_message,
        tool_message,
        user_message,
    )
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import (
        Behavior,
        Decision,
        PermissionContext,
        PermissionMode,
        PermissionRule,
        ToolCheck,
        ToolFacts,
        decide,
    )

__all__ = [
    "AgentState",
    "AudioBlock",
    "Behavior",
    "Block",
    "DataBlock",
    "Decision",
    "FinishReason",
    "HintBlock",
    "ImageBlock",
    "Msg",
    "PermissionContext",
    "PermissionMode",
    "PermissionRule",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallState",
    "ToolCheck",
    "ToolFacts",
    "ToolResultBlock",
    "ToolResultState",
    "ToolUseBlock",
    "UnknownBlock",
    "VideoBlock",
    "assistant_message",
    "decide",
    "system_message",
    "tool_message",
    "user_message",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "messages": (
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
        "system_message",
        "tool_message",
        "user_message",
    ),
    "state.agent_state": ("AgentState",),
    "state.permissions": (
        "Behavior",
        "Decision",
        "PermissionContext",
        "PermissionMode",
        "PermissionRule",
        "ToolCheck",
        "ToolFacts",
        "decide",
    ),
}
_EXPORTS = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
