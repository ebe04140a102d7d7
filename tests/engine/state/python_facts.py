"""The facts of AgentScope's answer key, computed from a state of ours."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import Role, TextBlock, ToolResultBlock
from agentadmin.engine.state.calls import open_calls
from agentadmin.engine.state.interop import ParkedKind, parked_calls
from agentadmin.engine.state.interop.aside import aside_of, summary_blocks

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

_STATUS = {
    ParkedKind.APPROVAL: "awaiting_permission",
    ParkedKind.EXTERNAL: "awaiting_external_result",
}


def facts_of(state: AgentState) -> dict[str, Any]:
    """Everything that the key tells about a file, but what its text says about itself."""
    blocks = [block for message in state.context for block in message.content]
    parked = parked_calls(state)
    permissions = state.permission_context
    return {
        "messages": len(state.context),
        "roles": dict(Counter(str(message.role).lower() for message in state.context)),
        "assistant_names": sorted(
            {str(each.name) for each in state.context if each.role == Role.ASSISTANT}
        ),
        "blocks": dict(Counter(block.type for block in blocks)),
        "status_when_not_running": _STATUS[parked[0].kind] if parked else "idle",
        "awaiting_tool_calls": [
            {"id": each.call.call_id, "name": each.call.name, "state": each.call.state}
            for each in parked
        ],
        "tool_calls_without_result": [call.call_id for call in open_calls(state)],
        "tool_result_states": dict(
            Counter(block.state for block in blocks if isinstance(block, ToolResultBlock))
        ),
        "cur_iter": state.cur_iter,
        "reply_id": state.reply_id,
        "mode": permissions.mode.value,
        "rules": {
            name: sum(map(len, getattr(permissions, name).values()))
            for name in ("allow_rules", "deny_rules", "ask_rules")
        },
        "tasks": [
            [task.subject, task.state.value, task.owner, len(task.blocked_by)]
            for task in state.tasks_context.tasks
        ],
        "summary_type": "str" if summary_blocks(state) is None else "list",
        "summary_empty": not state.summary and not summary_blocks(state),
        "activated_groups": list(state.tool_context.activated_groups),
        "read_cache_files": len(state.tool_context.extra["read_file_cache"]),
        "middle_context_keys": list(aside_of(state)["middle_context"]),
        "usage_total": _usage(state),
        "text_sha256": _text_hash(state),
    }


def _usage(state: AgentState) -> dict[str, int]:
    usages = [message.usage for message in state.context if message.usage]
    return {name: sum(usage[f"{name}_tokens"] for usage in usages) for name in ("input", "output")}


def _text_hash(state: AgentState) -> str:
    texts = [block.text for message in state.context for block in message.blocks(TextBlock)]
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
