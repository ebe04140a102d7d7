"""Rules that do not do what their author may think: shown wherever rules are edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.commands import rule_words
from agentadmin.engine.state.permissions.shell import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from agentadmin.engine.state.permissions.context import PermissionContext, PermissionRule
    from agentadmin.engine.state.permissions.facts import ToolFacts
    from agentadmin.engine.state.permissions.vocabulary import Behavior


@dataclass(frozen=True, slots=True)
class RuleWarning:
    """One rule, the effect it has by its table, and what is odd about it."""

    behavior: Behavior
    tool_name: str
    rule: PermissionRule
    detail: str


def configuration_warnings(
    context: PermissionContext, tools: Mapping[str, ToolFacts], now: datetime
) -> tuple[RuleWarning, ...]:
    """What is odd about the rules of a context, given the tools of its agent."""
    return tuple(
        RuleWarning(behavior, name, rule, detail)
        for behavior, name, rule in context.rules()
        for detail in _oddities(behavior, name, rule, tools.get(name), now)
    )


def _oddities(
    behavior: Behavior, name: str, rule: PermissionRule, tool: ToolFacts | None, now: datetime
) -> Iterator[str]:
    if rule.expired(now):
        yield "It has expired and no longer counts."
    if rule.tool_name != name:
        yield f"It names {rule.tool_name} but applies to {name}, under which it is filed."
    if rule.behavior is not behavior:
        yield f"It says {rule.behavior} but does {behavior}, as the table it is filed in."
    if tool is None:
        yield f"The agent has no tool {name}."
    elif rule.rule_content:
        yield from _odd_content(rule.rule_content, tool)


def _odd_content(content: str, tool: ToolFacts) -> Iterator[str]:
    if tool.matcher == "none":
        yield f"{tool.name} understands no patterns: this rule never matches."
    elif tool.matcher == "path" and content.startswith("~"):
        yield "`~` is not expanded in patterns: write the absolute path."
    elif tool.matcher == "command":
        command = parse(content)
        if command.opaque or len(command.parts) != 1 or not rule_words(content):
            yield "A command rule is the beginning of one simple command: this never matches."
