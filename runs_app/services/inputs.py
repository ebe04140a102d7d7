"""What may be submitted: text, or blocks of text and media, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidInput, TooDeep, TooLarge
from agentadmin.engine.messages import Block, user_message
from agentadmin.engine.messages.vocabulary import MESSAGE_LEVELS
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from agentadmin.engine.messages import Msg

MAX_BYTES = 32 * 1024 * 1024
MAX_BLOCKS = 1000
SUBMITTABLE = frozenset({"text", "image", "audio", "video", "data"})
"""Calls, results and thinking are an agent's own; nobody puts them into its mouth."""

_SOURCE = ("source", dict, "an object")


def checked_input(value: Any) -> list[Msg]:
    """The messages of a turn, with their ids. Raises InvalidInput or TooLarge with the path."""
    if isinstance(value, str):
        if not value.strip():
            raise InvalidInput("must not be blank", path="input")
        messages = [user_message(value)]
    elif isinstance(value, list):
        messages = [user_message(_blocks(value))]
    else:
        raise InvalidInput("must be text or a list of blocks", path="input")
    if sum(map(_size, messages)) > MAX_BYTES:
        raise TooLarge("An input may have at most 32 MB.", path="input")
    return messages


def _size(message: Msg) -> int:
    try:
        return len(codec.dumps(message.raw, levels=MESSAGE_LEVELS))
    except TooDeep as error:
        raise error.under("input") from None


def _blocks(value: list[Any]) -> list[Block]:
    if not value:
        raise InvalidInput("must not be empty", path="input")
    if len(value) > MAX_BLOCKS:
        raise InvalidInput(f"has more than {MAX_BLOCKS} blocks", path="input")
    blocks = [Block.from_dict(raw, f"input[{index}]") for index, raw in enumerate(value)]
    for index, block in enumerate(blocks):
        if block.type not in SUBMITTABLE:
            known = ", ".join(sorted(SUBMITTABLE))
            raise InvalidInput(f"must be one of {known}", path=f"input[{index}].type")
        name, kind, word = ("text", str, "text") if block.type == "text" else _SOURCE
        if not isinstance(block.raw.get(name), kind):
            raise InvalidInput(f"must be {word}", path=f"input[{index}].{name}")
    if all(block.type == "text" and not block.raw["text"].strip() for block in blocks):
        raise InvalidInput("must not be blank", path="input")
    return blocks
