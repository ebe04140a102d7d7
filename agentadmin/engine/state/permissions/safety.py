"""Dangerous paths and commands: no rule and no mode may let them pass unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state.permissions.commands import mentions, started, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentadmin.engine.state.permissions.shell import Command

_FILES_TEXT = """
.bash_profile .bashrc .env .env.development .env.development.local .env.local .env.production
.env.production.local .env.staging .env.test .env.test.local .envrc .gitconfig .gitmodules
.netrc .npmrc .profile .pypirc .zprofile .zshrc id_ed25519 id_rsa
"""
_FILES = frozenset(_FILES_TEXT.split())
_DIRECTORIES = frozenset({".aws", ".git", ".idea", ".kube", ".ssh", ".vscode"})
_PROGRAMS = frozenset({"dd", "fdisk", "format", "mkfs"})
_PREFIXES = (
    ("chmod", "777"),
    ("chmod", "-R", "777"),
    ("chown", "-R"),
    ("kill", "-9"),
    ("rm", "-rf"),
    ("sudo", "rm"),
)


def dangerous_path(paths: Iterable[str]) -> str | None:
    """The first path that touches secrets or what tools trust blindly."""
    return next((path for path in paths if _is_dangerous(path)), None)


def dangerous_command(command: Command, text: str) -> str | None:
    """Why a command needs a person's eye, or None."""
    for words in started(text).lists:
        program = words[0]
        if program in _PROGRAMS or program.startswith("mkfs.") or _forced_removal(words):
            return f"`{program}` can destroy data"
    for prefix in _PREFIXES:
        if mentions(text, prefix):
            return f"`{' '.join(prefix)}` can destroy data"
    for target in (target for part in command.parts for target in written(part)):
        if target.startswith("/dev/"):
            return f"writes to the device {target}"
    path = dangerous_path(_named_files(command))
    return None if path is None else f"touches {path}"


def _is_dangerous(path: str) -> bool:
    segments = path.lower().rstrip("/").split("/")
    return segments[-1] in _FILES or not _DIRECTORIES.isdisjoint(segments)


def _forced_removal(words: list[str]) -> bool:
    if words[0] != "rm":
        return False
    short = "".join(word[1:] for word in words if word[:1] == "-" and word[:2] != "--")
    recursive = "r" in short.lower() or "--recursive" in words
    return recursive and ("f" in short or "--force" in words)


def _named_files(command: Command) -> Iterator[str]:
    for part in command.parts:
        for word in (*part.words, *part.writes, *part.reads):
            yield word
            _, equals, value = word.partition("=")
            if equals:
                yield value
