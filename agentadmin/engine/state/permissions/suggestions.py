"""The allow rules that would let a call like this one pass next time."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.commands import written
from agentadmin.engine.state.permissions.context import PermissionRule
from agentadmin.engine.state.permissions.globs import escape
from agentadmin.engine.state.permissions.read_only_commands import changes_nothing
from agentadmin.engine.state.permissions.vocabulary import Behavior

if TYPE_CHECKING:
    from agentadmin.engine.state.permissions.question import Question
    from agentadmin.engine.state.permissions.shell import Command, SubCommand

SOURCE = "suggested"
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")


def suggested_rules(question: Question) -> tuple[PermissionRule, ...]:
    """As narrow as the tool's matcher allows; the whole tool where it knows no patterns."""
    name = question.tool.name
    return tuple(
        PermissionRule(name, content, Behavior.ALLOW, SOURCE)
        for content in dict.fromkeys(_contents(question))
    )


def _contents(question: Question) -> list[str | None]:
    match question.tool.matcher:
        case "path" if question.paths:
            return [escape(path) for path in question.paths]
        case "command":
            return _prefixes(question.command)
        case _:
            return [None]


def _prefixes(command: Command) -> list[str | None]:
    """Nothing for what no prefix may cover: redirections, and what cannot be followed."""
    if command.opaque or any(map(written, command.parts)):
        return []
    return [_prefix(part) for part in command.parts if not changes_nothing(part)]


def _prefix(part: SubCommand) -> str:
    """`git status` of `git status -s`; otherwise the words as they are."""
    words = part.words
    if len(words) > 1 and all(map(_SUBCOMMAND.fullmatch, words[:2])):
        return " ".join(words[:2])
    return shlex.join(words)
