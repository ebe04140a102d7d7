"""Shell commands as rules see them: split into sub-commands, each a list of words.

This is no shell. It understands quoting, `&&`, `||`, `;`, `|`, `&`, newlines, sub-shells, `$( )`,
backticks and redirections well enough to find every program that a line may start; what it cannot
follow makes the command opaque, and an opaque command is never allowed by a pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

_SEPARATORS = frozenset(";&|\n()")
_SPACES = frozenset(" \t\r")
_ESCAPED_IN_QUOTES = ("$", "`", '"', "\\", "\n")
_MAX_DEPTH = 20
"""Substitutions nested deeper are not followed: nobody writes them, and each costs a pass."""


@dataclass(slots=True)
class SubCommand:
    """One program with its words, and where its output goes."""

    words: list[str] = field(default_factory=list)
    dynamic: bool = False
    """Whether some word is only known to the shell: a variable or a substitution."""
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Command:
    """Every sub-command of a line, nested ones too."""

    parts: list[SubCommand] = field(default_factory=list)
    opaque: bool = False


@lru_cache(maxsize=256)
def parse(text: str) -> Command:
    """The sub-commands of a line. The result is shared: it must not be changed."""
    parser = _Parser(text)
    parser.run()
    return Command([part for part in parser.parts if _starts(part)], parser.opaque)


def _starts(part: SubCommand) -> bool:
    return bool(part.words or part.writes or part.reads)


class _Parser:
    """One pass over a line; substitutions are put aside and read afterwards."""

    def __init__(self, text: str) -> None:
        self.pending = [(text, 0)]
        self.depth = 0
        self.parts: list[SubCommand] = []
        self.opaque = False
        self.text = ""
        self.at = 0
        self.part = SubCommand()
        self.word: str | None = None
        self.target: list[str] | None = None

    def run(self) -> None:
        while self.pending:
            self.text, self.depth = self.pending.pop()
            self.at = 0
            self._begin_part()
            while self.at < len(self.text):
                self._step(self.text[self.at])
            self._begin_part()

    def _step(self, character: str) -> None:
        self.at += 1
        if character in _SPACES:
            self._end_word()
        elif character in _SEPARATORS:
            self._begin_part()
        elif character in "<>":
            self._redirect(character)
        elif character == "#" and self.word is None:
            self._skip_comment()
        elif character == "\\":
            self._escape()
        elif character == "'":
            self._add(self._until("'"))
        elif character == '"':
            self._double_quoted()
        elif character in "$`":
            self._expansion(character)
        else:
            self._add(character)

    def _begin_part(self) -> None:
        self._end_word()
        if self.target is not None:  # a redirection to nowhere
            self.opaque = True
            self.target = None
        self.part = SubCommand()
        self.parts.append(self.part)

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _end_word(self) -> None:
        if self.word is None:
            return
        if self.target is None:
            self.part.words.append(self.word)
        else:
            self.target.append(self.word)
            self.target = None
        self.word = None

    def _until(self, end: str) -> str:
        stop = self.text.find(end, self.at)
        if stop < 0:
            self.opaque = True
            stop = len(self.text)
        found = self.text[self.at : stop]
        self.at = stop + 1
        return found

    def _escape(self) -> None:
        escaped = self.text[self.at : self.at + 1]
        self.at += 1
        if not escaped:
            self.opaque = True
        elif escaped != "\n":
            self._add(escaped)

    def _skip_comment(self) -> None:
        stop = self.text.find("\n", self.at)
        self.at = len(self.text) if stop < 0 else stop

    def _double_quoted(self) -> None:
        self._add("")
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == '"':
                return
            if character == "\\" and self.text[self.at : self.at + 1] in _ESCAPED_IN_QUOTES:
                self._escape()
            elif character in "$`":
                self._expansion(character)
            else:
                self._add(character)
        self.opaque = True

    def _expansion(self, character: str) -> None:
        """A variable stays in its word; a substitution's inside is a command of its own."""
        self.part.dynamic = True
        self._add(character)
        if character == "`":
            self._substitute(self._until("`"))
        elif self.text.startswith("(", self.at):
            self.at += 1
            self._substitute(self._inside_parentheses())

    def _substitute(self, text: str) -> None:
        if self.depth < _MAX_DEPTH:
            self.pending.append((text, self.depth + 1))
        else:
            self.opaque = True

    def _redirect(self, character: str) -> None:
        """`> file`, `2>> file`, `< file`, `>&2`; `<( )` and `>( )` are substitutions."""
        if self.text.startswith("(", self.at):
            self.at += 1
            self.part.dynamic = True
            self._add(character)
            self._substitute(self._inside_parentheses())
            return
        if self.word is not None and self.word.isdigit():
            self.word = None
        self._end_word()
        operator = character
        while self.at < len(self.text) and self.text[self.at] in "<>&|":
            operator += self.text[self.at]
            self.at += 1
        if operator.startswith("<<"):  # a here-document cannot be told from commands
            self.opaque = True
        self.target = self.part.writes if ">" in operator else self.part.reads
        if operator.endswith("&"):
            self._duplicate()

    def _duplicate(self) -> None:
        """`>&2` copies a descriptor, `>&file` writes a file."""
        stop = self.at
        while stop < len(self.text) and (self.text[stop].isdigit() or self.text[stop] == "-"):
            stop += 1
        if stop > self.at:
            self.at = stop
            self.target = None

    def _inside_parentheses(self) -> str:
        depth, start = 1, self.at
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == "\\":
                self.at += 1
            elif character == "'":
                self._until("'")
            else:
                depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                return self.text[start : self.at - 1]
        self.opaque = True
        return self.text[start:]
