"""The one way to change a state from outside a call: named operations, pure and registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.state.compact_operation import COMPACT
from agentadmin.engine.state.context_operations import CLEAR_CONTEXT, SET_SUMMARY
from agentadmin.engine.state.diff import diff
from agentadmin.engine.state.directory_operations import (
    ADD_WORKING_DIRECTORY,
    REMOVE_WORKING_DIRECTORY,
)
from agentadmin.engine.state.effects import effects
from agentadmin.engine.state.json_patch import JSON_PATCH
from agentadmin.engine.state.operations import OperationSpec
from agentadmin.engine.state.permission_operations import (
    ADD_RULE,
    REMOVE_RULE,
    SET_PERMISSION_MODE,
)
from agentadmin.engine.state.plan_operations import ENTER_PLAN_MODE, EXIT_PLAN_MODE
from agentadmin.engine.state.redaction import REDACT_MESSAGE
from agentadmin.engine.state.restore_operation import RESTORE
from agentadmin.engine.state.task_operations import (
    BEGIN_TASK,
    DECIDE_REQUIREMENT,
    SET_SUBJECT_VERSION,
    SET_TODOS,
)
from agentadmin.engine.state.tool_operations import ACTIVATE_TOOL_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState

__all__ = ["OPERATIONS", "OperationSpec", "apply", "apply_all", "diff", "effects", "spec_of"]

OPERATIONS: dict[str, OperationSpec] = {
    spec.name: spec
    for spec in (
        CLEAR_CONTEXT,
        SET_SUMMARY,
        SET_PERMISSION_MODE,
        ADD_RULE,
        REMOVE_RULE,
        ADD_WORKING_DIRECTORY,
        REMOVE_WORKING_DIRECTORY,
        COMPACT,
        REDACT_MESSAGE,
        ENTER_PLAN_MODE,
        EXIT_PLAN_MODE,
        SET_TODOS,
        BEGIN_TASK,
        DECIDE_REQUIREMENT,
        SET_SUBJECT_VERSION,
        ACTIVATE_TOOL_GROUPS,
        RESTORE,
        JSON_PATCH,
    )
}


def spec_of(operation: Any, *, index: int = 0) -> OperationSpec:
    """The registered operation that a raw one names."""
    if not isinstance(operation, dict):
        raise InvalidOperation("an operation must be an object", index=index)
    name = operation.get("op")
    spec = OPERATIONS.get(name) if isinstance(name, str) else None
    if spec is None:
        raise InvalidOperation(f"there is no operation {name!r:.60}", index=index, path="op")
    return spec


def apply(
    state: AgentState, operation: dict[str, Any], *, now: datetime, index: int = 0
) -> AgentState:
    """The state after one operation; the given state is never touched."""
    spec = spec_of(operation, index=index)
    try:
        return spec.apply(state, operation, now)
    except InvalidOperation as error:
        error.index = index
        raise


def apply_all(
    state: AgentState, operations: Sequence[dict[str, Any]], *, now: datetime
) -> AgentState:
    """The state after all operations in order, or an error that says which one is wrong."""
    for index, operation in enumerate(operations):
        state = apply(state, operation, now=now, index=index)
    return state
