"""Which permissions a change of a state asks for, told from the states before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.messages import Msg
    from agentadmin.engine.state.agent_state import AgentState

_PARTS = {
    "summary": "sessions:edit_summary",
    "permission_context": "permissions:edit",
    "tool_context": "sessions:edit",
    "tasks_context": "sessions:edit",
    "plan_mode_context": "sessions:edit",
}
"""Every part with the permission of those who change it by the operations made for it."""


def permissions_of_change(before: AgentState, after: AgentState) -> frozenset[str]:
    """The permissions of every part that differs (design §5: restore and `json_patch`)."""
    return frozenset(_needed(before, after))


def _needed(before: AgentState, after: AgentState) -> Iterator[str]:
    for part, permission in _PARTS.items():
        if getattr(before, part) != getattr(after, part):
            yield permission
    old, new = before.context, after.context
    if old == new:
        return
    if [message.id for message in old] != [message.id for message in new]:
        yield "sessions:clear"
    if _rewritten(old, new):
        yield "sessions:redact"


def _rewritten(old: tuple[Msg, ...], new: tuple[Msg, ...]) -> bool:
    """Whether a message that stays says something else afterwards."""
    known = {message.id: message for message in old if message.id}
    return any(message.id in known and known[message.id] != message for message in new)
