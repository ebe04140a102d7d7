"""Shell commands that change nothing, whatever their arguments; when in doubt they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.commands import written

if TYPE_CHECKING:
    from agentadmin.engine.state.permissions.shell import Command, SubCommand

_ALWAYS_TEXT = """
[ basename cat cd cmp column comm cut df diff dirname du echo egrep expand expr false fgrep
fold grep head id jq ls md5sum nl nproc od paste printf ps pwd readlink realpath rev seq
sha1sum sha256sum stat strings tac tail test tr true type uname uptime wc which whoami
"""
_ALWAYS = frozenset(_ALWAYS_TEXT.split())
# Programs with options that write, run or change something: any of these words' beginnings refuse.
_EXCEPT: dict[str, tuple[str, ...]] = {
    "file": ("-C", "--c"),
    "date": ("-s", "--s"),
    "find": ("-delete", "-exec", "-ok", "-fprint", "-fls"),
    "rg": ("--pre", "--hostname-bin", "-z", "--search-zip"),
    "sort": ("-o", "--o", "-T", "--t", "--compress"),
    "tree": ("-o",),
}
_GIT = frozenset({"blame", "describe", "diff", "log", "ls-files", "rev-parse", "show", "status"})
_GIT_EXCEPT = ("--output", "--ext-diff", "--textconv", "--open-files")


def is_read_only(command: Command) -> bool:
    """Whether every part of a line is known to change nothing."""
    return bool(command.parts) and not command.opaque and all(map(changes_nothing, command.parts))


def changes_nothing(part: SubCommand) -> bool:
    if not part.words or written(part):
        return False
    program, *arguments = part.words
    if program in _ALWAYS:
        return True
    if program == "git":
        known = bool(arguments) and arguments[0] in _GIT
        return known and _avoids(part, arguments[1:], _GIT_EXCEPT)
    return program in _EXCEPT and _avoids(part, arguments, _EXCEPT[program])


def _avoids(part: SubCommand, arguments: list[str], refused: tuple[str, ...]) -> bool:
    """An argument that only the shell knows may be any of the refused ones."""
    return not part.dynamic and not any(word.startswith(refused) for word in arguments)
