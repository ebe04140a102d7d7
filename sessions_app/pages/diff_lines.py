"""Lines of a comparison: what went, what came, and the words that differ between the two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.messages import Block, Msg

MAX_TEXT = 600
"""Characters of a message in one line; the whole message is a click away."""
MAX_PROSE = 4_000
MOST_WORDS = 800
"""Words are compared one by one only up to here: what it takes grows with their product."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_SIGNS = {"add": "+", "del": "\N{MINUS SIGN}", "mov": "\N{UP DOWN ARROW}", "": ""}
_SPOKEN = {"add": "added:", "del": "removed:", "mov": "moved:", "": ""}


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line: `ins`, `del`, or unmarked."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `add`, `del`, `mov`, or one that only stands between them."""

    css: str
    parts: tuple[Part, ...]
    number: str = ""

    @property
    def sign(self) -> str:
        """What stands in its margin."""
        return _SIGNS[self.css]

    @property
    def spoken(self) -> str:
        """The sign as a word, for those who hear the page."""
        return _SPOKEN[self.css]


def added(text: str, number: object = "") -> Line:
    """A line that came."""
    return Line("add", (Part(text),), str(number))


def removed(text: str, number: object = "") -> Line:
    """A line that went."""
    return Line("del", (Part(text),), str(number))


def moved(text: str, before: int, after: int) -> Line:
    """A line that stands elsewhere now, counted from 1."""
    return Line("mov", (Part(text),), f"{before + 1}→{after + 1}")


def replaced(before: str, after: str, number: object = "") -> Iterator[Line]:
    """What went and what came in its place; an empty side has no line."""
    old, new = _worded(before, after)
    if before:
        yield Line("del", old, str(number))
    if after:
        yield Line("add", new, str(number))


def _worded(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Both sides with the words marked that the other one does not have."""
    left, right = _WORDS.findall(before), _WORDS.findall(after)
    if not left or not right or len(left) + len(right) > MOST_WORDS:
        return (Part(before),), (Part(after),)
    old: list[Part] = []
    new: list[Part] = []
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        mark = ("", "") if tag == "equal" else ("del", "ins")
        old += [Part("".join(left[a:b]), mark[0])] if b > a else []
        new += [Part("".join(right[c:d]), mark[1])] if d > c else []
    return tuple(old), tuple(new)


def value_text(value: Any) -> str:
    """A value in one line: text as it is, anything else as JSON; nothing is empty."""
    if value is None:
        return ""
    return short(value if isinstance(value, str) else codec.dumps(value), MAX_PROSE)


def short(text: str, most: int = MAX_TEXT) -> str:
    """Cut where it is too long for a line, with how much there is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def message_text(message: Msg) -> str:
    """Who says it, and what, in one line."""
    said = " ".join(filter(None, (_said(block) for block in message.content)))
    return f"{message.role or 'message'}  {short(said)}"


def _said(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ThinkingBlock):
        return f"(thinking) {block.thinking}"
    if isinstance(block, HintBlock):
        return block.hint
    if isinstance(block, ToolUseBlock):
        return f"{block.name} {codec.dumps(block.input)}"
    if isinstance(block, ToolResultBlock):
        return f"{block.name}: {block.text}"
    return f"[{block.type}]"
