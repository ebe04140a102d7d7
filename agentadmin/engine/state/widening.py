"""Which changes of a permission context widen or narrow what may run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentadmin.engine.state.permissions import Behavior, PermissionMode

if TYPE_CHECKING:
    from agentadmin.engine.state.permissions import PermissionContext, PermissionRule

    Placed = tuple[Behavior, str, PermissionRule]

_FORBIDDING = (Behavior.DENY, Behavior.ASK)


class _Words(NamedTuple):
    """How a looser context is told of, depending on where one comes from."""

    bypass: str
    gained: str
    lost: str


_WIDENING = _Words("the mode becomes bypass", "adds", "removes")
_NARROWING = _Words("the mode is no longer bypass", "removes", "adds")


def widening(before: PermissionContext, after: PermissionContext) -> list[str]:
    """Every way in which `after` allows more; empty when it allows nothing more."""
    return _looser(before, after, _WIDENING)


def narrowing(before: PermissionContext, after: PermissionContext) -> list[str]:
    """Every way in which `after` allows less."""
    return _looser(after, before, _NARROWING)


def _looser(strict: PermissionContext, loose: PermissionContext, words: _Words) -> list[str]:
    """What `loose` allows beyond `strict`, told as going from one to the other."""
    found: list[str] = []
    if loose.mode is PermissionMode.BYPASS and strict.mode is not PermissionMode.BYPASS:
        found.append(words.bypass)
    for placed in _new_effects(strict, loose, (Behavior.ALLOW,)):
        found.append(f"{words.gained} {describe(placed)}")
    for placed in _new_effects(loose, strict, _FORBIDDING):
        found.append(f"{words.lost} {describe(placed)}")
    known = {each.path for each in strict.working_directories.values()}
    for each in loose.working_directories.values():
        if each.path not in known:
            found.append(f"{words.gained} the working directory {each.path}")
    return found


def added_rules(before: PermissionContext, after: PermissionContext) -> list[Placed]:
    """The rules of `after` that `before` does not have."""
    # Rules with fields of their own cannot be hashed: only those alike are compared.
    known: dict[tuple[str, str, str | None, str | None], list[Placed]] = {}
    for each in before.rules():
        known.setdefault(_effect(each), []).append(each)
    return [each for each in after.rules() if each not in known.get(_effect(each), ())]


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
    known = {_effect(each) for each in before.rules()}
    return [e for e in after.rules() if e[0] in behaviors and _effect(e) not in known]


def _effect(placed: Placed) -> tuple[str, str, str | None, str | None]:
    behavior, tool, rule = placed
    return behavior, tool, rule.rule_content or None, rule.expires_at
