"""Which changes of a permission context widen or narrow what may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions import Behavior, PermissionMode

if TYPE_CHECKING:
    from agentadmin.engine.state.permissions import PermissionContext, PermissionRule

    Placed = tuple[Behavior, str, PermissionRule]

_FORBIDDING = (Behavior.DENY, Behavior.ASK)


def widening(before: PermissionContext, after: PermissionContext) -> list[str]:
    """Every way in which `after` allows more; empty when it allows nothing more."""
    found: list[str] = []
    if after.mode is PermissionMode.BYPASS and before.mode is not PermissionMode.BYPASS:
        found.append("the mode becomes bypass")
    found += [
        f"adds {describe(rule)}" for rule in added_rules(before, after) if rule[0] is Behavior.ALLOW
    ]
    found += [
        f"removes {describe(rule)}" for rule in added_rules(after, before) if rule[0] in _FORBIDDING
    ]
    known = {each.path for each in before.working_directories.values()}
    found += [
        f"adds the working directory {each.path}"
        for each in after.working_directories.values()
        if each.path not in known
    ]
    return found


def narrowing(before: PermissionContext, after: PermissionContext) -> list[str]:
    """Every way in which `after` allows less."""
    return widening(after, before)


def added_rules(before: PermissionContext, after: PermissionContext) -> list[Placed]:
    """The rules of `after` that `before` does not have."""
    known = list(before.rules())
    return [each for each in after.rules() if each not in known]


def describe(placed: Placed) -> str:
    """`the rule deny execute 'rm -rf'`"""
    behavior, tool, rule = placed
    content = f" {rule.rule_content!r}" if rule.rule_content else ""
    until = f" until {rule.expires_at}" if rule.expires_at else ""
    return f"the rule {behavior} {tool}{content}{until}"


def _new_effects(
    before: PermissionContext, after: PermissionContext, behaviors: tuple[Behavior, ...]
) -> list[Placed]:
    """Rules that do in `after` what none does in `before`; a source changes nothing."""
    known = [_effect(each) for each in before.rules()]
    return [e for e in after.rules() if e[0] in behaviors and _effect(e) not in known]


def _effect(placed: Placed) -> tuple[str, str, str | None, str | None]:
    behavior, tool, rule = placed
    return behavior, tool, rule.rule_content or None, rule.expires_at
