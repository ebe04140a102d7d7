"""The engine: agents with durable state, usable without Django.

The public names are loaded on first use, so that importing one module of the engine does not load
the others. To publish a name, add it to `_MODULES`, to the `TYPE_CHECKING` imports and to `__all__`
(a test compares the three).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentadmin.engine.agents.admission import Admission, Answer, Outcome, RunResult, RunStatus
    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.agents.builder import AgentBuilder
    from agentadmin.engine.agents.direct import confirm_message
    from agentadmin.engine.agents.handle import AgentRun
    from agentadmin.engine.agents.harness import HarnessAgent
    from agentadmin.engine.agents.host import RunHost
    from agentadmin.engine.agents.interrupt import InterruptControl, InterruptKind, InterruptSource
    from agentadmin.engine.agents.middleware import Middleware, StopRequest
    from agentadmin.engine.agents.react import ReActAgent
    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.errors import AgentAdminError
    from agentadmin.engine.events import Event, EventType
    from agentadmin.engine.identity import SessionKey, ThreadKey
    from agentadmin.engine.journal.base import ThreadJournalStore
    from agentadmin.engine.journal.memory import InMemoryThreadJournal
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
    from agentadmin.engine.models.base import (
        ChatModel,
        ModelRequest,
        Purpose,
        RetryPolicy,
        TextChunk,
        ThinkingChunk,
        ToolCallChunk,
        UsageChunk,
    )
    from agentadmin.engine.models.scripted import OfflineModel
    from agentadmin.engine.runtime_context import RuntimeContext
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
    from agentadmin.engine.stores.base import AgentStateStore, ConflictPolicy
    from agentadmin.engine.stores.memory import InMemoryAgentStateStore
    from agentadmin.engine.tools.builtin.orders import OrderBook
    from agentadmin.engine.tools.context import ToolContext
    from agentadmin.engine.tools.executor import ToolOutcome
    from agentadmin.engine.tools.toolkit import Effect, Tool, Toolkit, tool

__all__ = [
    "Admission",
    "Agent",
    "AgentAdminError",
    "AgentBuilder",
    "AgentRun",
    "AgentState",
    "AgentStateStore",
    "Answer",
    "AudioBlock",
    "Behavior",
    "Block",
    "ChatModel",
    "ConflictPolicy",
    "DataBlock",
    "Decision",
    "Effect",
    "Event",
    "EventType",
    "Execution",
    "FinishReason",
    "HarnessAgent",
    "HintBlock",
    "ImageBlock",
    "InMemoryAgentStateStore",
    "InMemoryThreadJournal",
    "InterruptControl",
    "InterruptKind",
    "InterruptSource",
    "Middleware",
    "ModelRequest",
    "Msg",
    "OfflineModel",
    "OrderBook",
    "Outcome",
    "PermissionContext",
    "PermissionMode",
    "PermissionRule",
    "Purpose",
    "ReActAgent",
    "RetryPolicy",
    "Role",
    "RunHost",
    "RunResult",
    "RunStatus",
    "RuntimeContext",
    "SessionKey",
    "StopRequest",
    "TextBlock",
    "TextChunk",
    "ThinkingBlock",
    "ThinkingChunk",
    "ThreadJournalStore",
    "ThreadKey",
    "Tool",
    "ToolCallChunk",
    "ToolCallState",
    "ToolCheck",
    "ToolContext",
    "ToolFacts",
    "ToolOutcome",
    "ToolResultBlock",
    "ToolResultState",
    "ToolUseBlock",
    "Toolkit",
    "UnknownBlock",
    "UsageChunk",
    "VideoBlock",
    "assistant_message",
    "confirm_message",
    "decide",
    "system_message",
    "tool",
    "tool_message",
    "user_message",
]

_MODULES: dict[str, tuple[str, ...]] = {
    "agents.admission": ("Admission", "Answer", "Outcome", "RunResult", "RunStatus"),
    "agents.agent": ("Agent",),
    "agents.builder": ("AgentBuilder",),
    "agents.direct": ("confirm_message",),
    "agents.handle": ("AgentRun",),
    "agents.harness": ("HarnessAgent",),
    "agents.host": ("RunHost",),
    "agents.interrupt": ("InterruptControl", "InterruptKind", "InterruptSource"),
    "agents.middleware": ("Middleware", "StopRequest"),
    "agents.react": ("ReActAgent",),
    "agents.run": ("Execution",),
    "errors": ("AgentAdminError",),
    "events": ("Event", "EventType"),
    "identity": ("SessionKey", "ThreadKey"),
    "journal.base": ("ThreadJournalStore",),
    "journal.memory": ("InMemoryThreadJournal",),
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
    "models.base": (
        "ChatModel",
        "ModelRequest",
        "Purpose",
        "RetryPolicy",
        "TextChunk",
        "ThinkingChunk",
        "ToolCallChunk",
        "UsageChunk",
    ),
    "models.scripted": ("OfflineModel",),
    "runtime_context": ("RuntimeContext",),
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
    "stores.base": ("AgentStateStore", "ConflictPolicy"),
    "stores.memory": ("InMemoryAgentStateStore",),
    "tools.builtin.orders": ("OrderBook",),
    "tools.context": ("ToolContext",),
    "tools.executor": ("ToolOutcome",),
    "tools.toolkit": ("Effect", "Tool", "Toolkit", "tool"),
}
_EXPORTS = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
