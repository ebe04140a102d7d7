"""The closed vocabularies of messages, and the metadata keys that mean something."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentadmin.engine.state.json_writer import MAX_DEPTH


class Role(StrEnum):
    """Who speaks; AgentScope for Python writes the same in lower case."""

    USER = "USER"
    ASSISTANT = "ASSISTANT"
    SYSTEM = "SYSTEM"
    TOOL = "TOOL"


class ToolCallState(StrEnum):
    """How far a tool call has come."""

    PENDING = "pending"
    ASKING = "asking"
    ALLOWED = "allowed"
    SUBMITTED = "submitted"
    FINISHED = "finished"


class ToolResultState(StrEnum):
    """How a tool call ended; `running` also stands for a placeholder."""

    SUCCESS = "success"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    DENIED = "denied"
    RUNNING = "running"


class FinishReason(StrEnum):
    """Why an assistant message is the last one of its call."""

    MODEL_STOP = "MODEL_STOP"
    TOOL_CALLS = "TOOL_CALLS"
    STRUCTURED_OUTPUT = "STRUCTURED_OUTPUT"
    TOOL_SUSPENDED = "TOOL_SUSPENDED"
    REASONING_STOP_REQUESTED = "REASONING_STOP_REQUESTED"
    ACTING_STOP_REQUESTED = "ACTING_STOP_REQUESTED"
    PERMISSION_ASKING = "PERMISSION_ASKING"
    MIDDLEWARE_STOP_REQUESTED = "MIDDLEWARE_STOP_REQUESTED"
    ALL_TOOLS_DENIED = "ALL_TOOLS_DENIED"
    INTERRUPTED = "INTERRUPTED"
    MAX_ITERATIONS = "MAX_ITERATIONS"


GENERATE_REASON: Final = "agentscope_generate_reason"
CONFIRM_RESULTS: Final = "agentscope_confirm_results"
CONFIRM_REPLY_ID: Final = "agentscope_confirm_request_reply_id"
EXTERNAL_REPLY_ID: Final = "agentscope_external_execution_request_reply_id"
SYNTHETIC: Final = "agentscope_synthetic"
REMINDER_KIND: Final = "agentscope_reminder_kind"
SUSPENDED: Final = "agentscope_suspended"

MESSAGE_LEVELS: Final = MAX_DEPTH - 2
"""What a message may nest, so that a state, which holds it two levels down, can be written."""

ARGUMENT_LEVELS: Final = MESSAGE_LEVELS - 3
"""The same for what stands in a block: a call's arguments, a result's metadata and output."""
CHAT_USAGE: Final = "_chat_usage"
"""Where AgentScope 1.x kept the usage of a message."""
