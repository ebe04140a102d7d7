"""How rules and checks read a shell command: prefixes of words, per sub-command.

What forbids looks through wrappers (`sudo`, `env X=1`, `bash -c '…'`, `xargs`); what allows takes
the words as they stand, and never covers an output redirection or a command it cannot follow.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.shell import Command, SubCommand, parse

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
_MAX_NESTED = 8


def rule_words(content: str) -> tuple[str, ...]:
    """The words of a rule; a final `*` only says what a prefix says anyway."""
    command = parse(content.removesuffix(":*"))
    simple = len(command.parts) == 1 and not command.opaque
    words = command.parts[0].words if simple else content.split()
    return tuple(words[:-1] if words and words[-1] == "*" else words)


def starts_with(words: list[str], prefix: tuple[str, ...]) -> bool:
    return bool(prefix) and tuple(words[: len(prefix)]) == prefix


def mentions(command: Command, text: str, prefix: tuple[str, ...]) -> bool:
    """Whether some program that the line may start begins with these words."""
    if any(starts_with(words, prefix) for words in started(command)):
        return True
    return command.opaque and any(
        starts_with(words, prefix) for words in _suffixes(_BARE_WORD.findall(text))
    )


def covers(part: SubCommand, prefix: tuple[str, ...]) -> bool:
    """Whether a prefix allows one sub-command."""
    return starts_with(part.words, prefix) and not written(part)


def written(part: SubCommand) -> list[str]:
    """The files that a sub-command's output goes to."""
    return [target for target in part.writes if target not in _HARMLESS_TARGETS]


def started(command: Command, nested: int = 0) -> Iterator[list[str]]:
    """Every list of words that may name a program, wrappers looked through."""
    for part in command.parts:
        for words in _unwrapped(part.words):
            yield words
            script = _script(words)
            if script is not None and nested < _MAX_NESTED:
                yield from started(parse(script), nested + 1)


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
            yield words[index + 1 :]


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
    return (words[index:] for index in range(len(words)))
