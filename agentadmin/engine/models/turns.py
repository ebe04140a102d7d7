"""A conversation as providers want it: results directly after the message that called for them.

States hold messages in two layouts, and people write while calls are open; here the blocks are
walked in their order, and what came between a call and its results waits until all are there.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from agentadmin.engine.messages import (
    Block,
    HintBlock,
    Msg,
    Role,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_UNPLAIN = re.compile(r"[^A-Za-z0-9_-]")
MOST_NAME = 64


class Speaker(StrEnum):
    """Whose turn it is in a request."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(slots=True)
class Turn:
    """What one speaker says in a row."""

    speaker: Speaker
    blocks: list[Block] = field(default_factory=list)


type _Item = tuple[Speaker, Block, int]

_SPEAKERS: dict[str, Speaker] = {
    Role.SYSTEM: Speaker.SYSTEM,
    Role.ASSISTANT: Speaker.ASSISTANT,
}


def turns(messages: Iterable[Msg]) -> list[Turn]:
    """The conversation's turns, in the order in which they may be sent."""
    made: list[Turn] = []
    previous = -1
    for speaker, block, number in _ordered(list(_items(messages))):
        goes_on = made and made[-1].speaker is speaker
        if not goes_on or (number != previous and speaker in (Speaker.SYSTEM, Speaker.USER)):
            made.append(Turn(speaker))
        made[-1].blocks.append(block)
        previous = number
    return made


def _items(messages: Iterable[Msg]) -> Iterator[_Item]:
    for number, message in enumerate(messages):
        speaker = _SPEAKERS.get(message.role or "", Speaker.USER)
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                yield Speaker.TOOL, block, number
            elif isinstance(block, ToolUseBlock):
                yield Speaker.ASSISTANT, block, number
            elif isinstance(block, HintBlock):
                yield Speaker.USER, hint(block.hint), number
            else:
                yield speaker, block, number


def _ordered(items: Sequence[_Item]) -> Iterator[_Item]:
    """The items with what stands between calls and their results put after the results."""
    while items:
        later: list[_Item] = []
        open_: set[str] = set()
        answering = False
        for position, item in enumerate(items):
            speaker, block, _ = item
            if isinstance(block, ToolResultBlock) and block.id in open_:
                answering = True
                open_.discard(block.id)
                yield item
                if not open_ and later:
                    later.extend(items[position + 1 :])
                    break
                answering = bool(open_)
            elif open_ and (answering or speaker is not Speaker.ASSISTANT):
                later.append(item)
            else:
                if isinstance(block, ToolUseBlock):
                    open_.add(block.id)
                yield item
        items = later


def hint(text: str) -> TextBlock:
    """Text of the system in the user's place, marked as such."""
    marked = text.lstrip().startswith("<")
    return TextBlock.make(text if marked else f"<system-reminder>{text}</system-reminder>")


def plain_id(call_id: str) -> str:
    """The id, or for one that a provider would refuse another one that is always the same."""
    if _PLAIN_ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:32]}"


def plain_name(name: str) -> str:
    """A tool's name in the characters that every provider takes."""
    return _UNPLAIN.sub("_", name)[:MOST_NAME] or "_"
