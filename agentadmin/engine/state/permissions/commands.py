"""How rules and checks read a shell command: prefixes of words, per sub-command.

What forbids looks through wrappers (`sudo`, `env X=1`, `bash -c '…'`, `xargs`); what allows takes
the words as they stand, and never covers an output redirection or a command it cannot follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.shell import SubCommand, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"})
_WRAPPERS = frozenset(
    {
        "builtin",
        "command",
        "doas",
        "env",
        "exec",
        "ionice",
        "nice",
        "nohup",
        "setsid",
        "stdbuf",
        "sudo",
        "timeout",
        "xargs",
    }
)
_SHELLS = frozenset({"bash", "dash", "ksh", "sh", "zsh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_BARE_WORD = re.compile(r"[^\s;&|()<>`$\"'{},\\]+")
_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_MAX_SCRIPTS = 200
_MAX_WORDS = 64
"""How far a list of words is looked at behind a wrapper: what is judged stands near its start."""


def rule_words(content: str) -> tuple[str, ...]:
    """The words of a rule; a final `*` only says what a prefix says anyway."""
    command = parse(content.removesuffix(":*"))
    simple = len(command.parts) == 1 and not command.opaque
    words = command.parts[0].words if simple else content.split()
    return tuple(words[:-1] if words and words[-1] == "*" else words)


def starts_with(words: list[str], prefix: tuple[str, ...]) -> bool:
    return bool(prefix) and tuple(words[: len(prefix)]) == prefix


@dataclass(frozen=True, slots=True)
class Started:
    """Every list of words that may name a program, wrappers and scripts looked through."""

    lists: tuple[list[str], ...]
    followed: bool
    """False when the line, or a script in it, says more than could be followed."""


def mentions(text: str, prefix: tuple[str, ...]) -> bool:
    """Whether some program that the line may start begins with these words."""
    found = started(text)
    if any(starts_with(words, prefix) for words in found.lists):
        return True
    return not found.followed and any(
        starts_with(words, prefix) for words in _suffixes(_BARE_WORD.findall(text))
    )


def covers(part: SubCommand, prefix: tuple[str, ...]) -> bool:
    """Whether a prefix allows one sub-command."""
    return starts_with(part.words, prefix) and not written(part)


def written(part: SubCommand) -> list[str]:
    """The files that a sub-command's output goes to."""
    return [target for target in part.writes if target not in _HARMLESS_TARGETS]


@lru_cache(maxsize=64)
def started(text: str) -> Started:
    """What a line may start. The result is shared: it must not be changed."""
    lists: list[list[str]] = []
    followed = True
    scripts = [text]
    for script in scripts:  # grows while it is walked
        command = parse(script)
        followed = followed and not command.opaque
        for words in (words for part in command.parts for words in _unwrapped(part.words)):
            lists.append(words)
            inner = _script(words)
            if inner is None or inner in scripts:
                continue
            if len(scripts) < _MAX_SCRIPTS:
                scripts.append(inner)
            else:
                followed = False
    return Started(tuple(lists), followed)


def _unwrapped(words: list[str]) -> Iterator[list[str]]:
    while words:
        program = words[0].rpartition("/")[2]
        yield [program, *words[1:]]
        if program in ("find", "fd"):
            yield from _executed_by_find(words)
        if program in _WRAPPERS:
            # Which options of a wrapper take a value differs: every later word may be the program.
            for rest in _suffixes(words[1:]):
                yield [rest[0].rpartition("/")[2], *rest[1:]]
            return
        if program not in _KEYWORDS and not _ASSIGNMENT.match(program):
            return
        words = words[1:]


def _executed_by_find(words: list[str]) -> Iterator[list[str]]:
    for index, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X") and words[index + 1 :]:
            yield words[index + 1 : index + 1 + _MAX_WORDS]


def _script(words: list[str]) -> str | None:
    """The script in `bash -c SCRIPT` and `eval SCRIPT`."""
    if words[0] == "eval":
        return " ".join(words[1:])
    if words[0] in _SHELLS:
        for option, script in pairwise(words[1:]):
            if option.startswith("-") and not option.startswith("--") and "c" in option:
                return script
    return None


def _suffixes(words: list[str]) -> Iterator[list[str]]:
    return (words[index : index + _MAX_WORDS] for index in range(len(words)))
