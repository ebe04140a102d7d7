"""The structural difference between two states: what a person wants to know, not a text diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.message_diff import message_summary, moved_keys
from agentadmin.engine.state.widening import added_rules, narrowing, widening

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.permissions import PermissionContext

_SCALARS = ("summary", "reply_id", "cur_iter", "shutdown_interrupted")


def diff(before: AgentState, after: AgentState) -> dict[str, Any]:
    """Only what changed has a key; an empty result means equal states."""
    found: dict[str, Any] = {}
    if before.context != after.context:
        found["messages"] = message_summary(before.context, after.context)
    if before.permission_context != after.permission_context:
        found["permission"] = _permission(before.permission_context, after.permission_context)
    if before.tasks_context != after.tasks_context:
        found["tasks"] = _tasks(before, after)
    for name, part in (("plan", "plan_mode_context"), ("tools", "tool_context")):
        old, new = getattr(before, part), getattr(after, part)
        if old != new:
            found[name] = _changed_keys(old.to_dict(), new.to_dict())
    found |= _changed_keys(
        {name: getattr(before, name) for name in _SCALARS},
        {name: getattr(after, name) for name in _SCALARS},
    )
    extra = _changed_keys(before.extra, after.extra)
    return found | ({"extra": extra} if extra else {})


def _permission(before: PermissionContext, after: PermissionContext) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if before.mode is not after.mode:
        found["mode"] = {"before": before.mode.value, "after": after.mode.value}
    found["rules_added"] = _rules(before, after)
    found["rules_removed"] = _rules(after, before)
    directories = _changed_keys(
        {key: each.to_dict() for key, each in before.working_directories.items()},
        {key: each.to_dict() for key, each in after.working_directories.items()},
    )
    if directories:
        found["working_directories"] = directories
    found["widened"] = widening(before, after)
    found["narrowed"] = narrowing(before, after)
    return found


def _rules(before: PermissionContext, after: PermissionContext) -> list[dict[str, Any]]:
    return [
        {"effect": behavior.value, "tool": tool, **rule.to_dict()}
        for behavior, tool, rule in added_rules(before, after)
    ]


def _tasks(before: AgentState, after: AgentState) -> dict[str, Any]:
    old = {task.id: task for task in before.tasks_context.tasks}
    new = {task.id: task for task in after.tasks_context.tasks}
    extra = _changed_keys(before.tasks_context.extra, after.tasks_context.extra)
    moved = moved_keys({id: index for index, id in enumerate(old)}, new)
    return {
        "added": [task.to_dict() for id, task in new.items() if id not in old],
        "removed": [task.to_dict() for id, task in old.items() if id not in new],
        "changed": [
            {"before": old[id].to_dict(), "after": task.to_dict()}
            for id, task in new.items()
            if id in old and task != old[id]
        ],
        "moved": [id for id in new if id in moved],
        **extra,
    }


def _changed_keys(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {"before": before.get(key), "after": after.get(key)}
        for key in before | after
        if before.get(key) != after.get(key)
    }
