"""The operation on tool groups: which grouped tools a thread is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader

MAX_GROUPS = 200
MAX_NAME = 256


def _activate(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Exactly these groups are active afterwards; without any only the tools of no group are."""
    if "groups" not in operation.raw:
        raise operation.refuse("groups", "is missing")
    groups = operation.texts("groups")
    if len(groups) > MAX_GROUPS:
        raise operation.refuse("groups", f"must hold at most {MAX_GROUPS}")
    known = operation.raw.get("known")
    for index, group in enumerate(groups):
        place = f"groups[{index}]"
        if not group.strip() or len(group) > MAX_NAME:
            raise operation.refuse(place, f"must be a name of 1 to {MAX_NAME} characters")
        if known is not None and group not in known:
            names = ", ".join(known) or "the agent has none"
            raise operation.refuse(place, f"there is no group {group:.60}; known: {names}")
    wanted = tuple(dict.fromkeys(groups))
    if set(wanted) != set(state.tool_context.activated_groups):
        state.tool_context = replace(state.tool_context, activated_groups=wanted)


ACTIVATE_TOOL_GROUPS = OperationSpec(
    name="activate_tool_groups",
    permission="sessions:edit",
    substates=frozenset({"tool_context"}),
    change=_activate,
    fields=frozenset({"groups"}),
    given=frozenset({"known"}),
)
