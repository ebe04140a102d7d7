"""Permissions for a system whose rules never expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions import Behavior

if TYPE_CHECKING:
    from agentadmin.engine.state.interop.losses import Losses
    from agentadmin.engine.state.permissions import PermissionContext, PermissionRule
    from agentadmin.engine.state.reading import Raw

_TABLES = {Behavior.ALLOW: "allow_rules", Behavior.DENY: "deny_rules", Behavior.ASK: "ask_rules"}


def lasting_rules(context: PermissionContext, losses: Losses) -> Raw:
    """The permissions, without what would allow for ever what was allowed for a time only."""
    raw = context.to_dict()
    for behavior, table in _TABLES.items():
        for tool, rules in context.table(behavior).items():
            place = f"permission_context.{table}.{tool}"
            raw[table][tool] = _lasting(behavior, rules, place, losses)
            if not raw[table][tool] and rules:
                del raw[table][tool]
    for key, directory in context.working_directories.items():
        place = f"permission_context.working_directories.{key}"
        for name in directory.extra:
            losses.ignored(f"{place}.{name}", "it is not known there")
    for name in context.extra:
        losses.ignored(f"permission_context.{name}", "it is not known there")
    return raw


def _lasting(
    behavior: Behavior, rules: tuple[PermissionRule, ...], place: str, losses: Losses
) -> list[Raw]:
    kept = []
    for index, rule in enumerate(rules):
        path = f"{place}[{index}]"
        raw = rule.to_dict()
        if rule.expires_at is not None and behavior is Behavior.ALLOW:
            losses.dropped(path, "it expires, and would allow for ever there")
            continue
        if raw.pop("expires_at", None) is not None:
            losses.dropped(f"{path}.expires_at", "rules never expire there")
        for name in rule.extra:
            losses.ignored(f"{path}.{name}", "it is not known there")
        kept.append(raw)
    return kept
