"""Which rules apply to a call.

A rule that forbids or asks applies when it matches any part of a call; a rule that allows must,
alone or with others, cover all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.commands import covers, mentions, rule_words
from agentadmin.engine.state.permissions.globs import matches_anywhere, matches_below
from agentadmin.engine.state.permissions.read_only_commands import changes_nothing
from agentadmin.engine.state.permissions.vocabulary import Behavior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.state.permissions.context import PermissionRule
    from agentadmin.engine.state.permissions.question import Question


def touching_rule(question: Question, behavior: Behavior) -> PermissionRule | None:
    """The first rule with this effect that matches any part of the call."""
    return next((rule for rule in question.rules(behavior) if _touches(question, rule)), None)


def allowing_rule(question: Question) -> PermissionRule | None:
    """The first of the allow rules that cover the whole call."""
    rules = question.rules(Behavior.ALLOW)
    whole = next((rule for rule in rules if not rule.rule_content), None)
    if whole is not None:
        return whole
    match question.tool.matcher:
        case "command":
            return _allowing_command(question, rules)
        case "path":
            return _allowing_path(question, rules)
        case _:
            return None


def _touches(question: Question, rule: PermissionRule) -> bool:
    content = rule.rule_content
    if not content:
        return True
    match question.tool.matcher:
        case "command":
            return mentions(question.command_text or "", rule_words(content))
        case "path":
            return any(matches_anywhere(content, path) for path in question.paths)
        case _:
            return False


def _allowing_command(question: Question, rules: Sequence[PermissionRule]) -> PermissionRule | None:
    """Read-only parts need no rule: they would be allowed on their own."""
    found: list[PermissionRule] = []
    for part in () if question.command.opaque else question.command.parts:
        rule = next((r for r in rules if covers(part, rule_words(r.rule_content or ""))), None)
        if rule is not None:
            found.append(rule)
        elif not (question.tool.is_command and changes_nothing(part)):
            return None
    return found[0] if found else None


def _allowing_path(question: Question, rules: Sequence[PermissionRule]) -> PermissionRule | None:
    found = [
        next((r for r in rules if matches_below(r.rule_content or "", path, question.roots)), None)
        for path in question.paths
    ]
    return found[0] if found and None not in found else None
