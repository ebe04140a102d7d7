"""Two versions of a definition beside each other."""

from __future__ import annotations

from typing import Any

from agentadmin.engine.state.permissions import PermissionContext
from agentadmin.engine.state.widening import narrowing, widening

Json = dict[str, Any]


def compare(before: Json, after: Json) -> Json:
    """The fields that differ, each with both values; and what that allows and forbids."""
    fields = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    old, new = context_in(before), context_in(after)
    return {
        "fields": {n: {"before": before.get(n), "after": after.get(n)} for n in fields},
        "widened": widening(old, new),
        "narrowed": narrowing(old, new),
    }


def context_in(definition: Json) -> PermissionContext:
    """The permissions that a definition gives to a fresh thread."""
    return PermissionContext.from_dict(definition.get("permission_context") or {})
