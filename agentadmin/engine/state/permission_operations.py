"""Operations on the permission context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.state.operations import OperationSpec
from agentadmin.engine.state.permissions import Behavior, PermissionMode, PermissionRule, RuleKey

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader

_PERMISSION = "permissions:edit"
_SUBSTATES = frozenset({"permission_context"})
_KEY_FIELDS = frozenset({"behavior", "tool_name", "rule_content", "source"})


def _set_permission_mode(state: AgentState, operation: Reader, _now: datetime) -> None:
    mode = operation.word("mode", PermissionMode)
    if mode is None:
        raise operation.refuse("mode", "is missing")
    state.permission_context = state.permission_context.with_mode(mode)


def _add_rule(state: AgentState, operation: Reader, now: datetime) -> None:
    """A rule that is there already stays as it is, once."""
    _check_key(operation)
    rule = PermissionRule.from_reader(operation)
    if rule.expired(now):
        raise operation.refuse("expires_at", "must lie in the future")
    rule = PermissionRule(
        rule.tool_name, rule.rule_content, rule.behavior, rule.source, rule.expires_at
    )
    state.permission_context = state.permission_context.with_rule(rule)


def _remove_rule(state: AgentState, operation: Reader, _now: datetime) -> None:
    """Without a source, the rule of any source goes."""
    behavior = _check_key(operation)
    key = RuleKey(
        behavior,
        operation.required_text("tool_name"),
        operation.text("rule_content"),
        operation.text("source"),
    )
    changed = state.permission_context.without_rule(key)
    if changed is state.permission_context:
        raise InvalidOperation(f"there is no rule {key}", path="tool_name")
    state.permission_context = changed


def _check_key(operation: Reader) -> Behavior:
    behavior = operation.word("behavior", Behavior)
    if behavior is None or behavior is Behavior.PASSTHROUGH:
        raise operation.refuse("behavior", "must be allow, deny or ask")
    for field in ("tool_name", "source"):
        if operation.text(field) is not None and not operation.required_text(field).strip():
            raise operation.refuse(field, "must not be blank")
    return behavior


SET_PERMISSION_MODE = OperationSpec(
    name="set_permission_mode",
    permission=_PERMISSION,
    substates=_SUBSTATES,
    change=_set_permission_mode,
    fields=frozenset({"mode"}),
)
ADD_RULE = OperationSpec(
    name="add_rule",
    permission=_PERMISSION,
    substates=_SUBSTATES,
    change=_add_rule,
    fields=_KEY_FIELDS | {"expires_at"},
)
REMOVE_RULE = OperationSpec(
    name="remove_rule",
    permission=_PERMISSION,
    substates=_SUBSTATES,
    change=_remove_rule,
    fields=_KEY_FIELDS,
)
