"""Our messages as OpenAI's chat completions want them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    Block,
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
)
from agentadmin.engine.models.media import explained, is_silent, media_of, text_in
from agentadmin.engine.models.turns import Speaker, Turn, plain_id, plain_name, turns
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

EXTRA_CONTENT = "extra_content"
"""What Google's servers send with a call and want back with it."""
NO_OUTPUT = "(no output)"

Wire = dict[str, Any]


def wire_messages(messages: Iterable[Msg]) -> list[Wire]:
    """The conversation as chat messages."""
    return [message for turn in turns(messages) for message in _WRITERS[turn.speaker](turn)]


def wire_tools(schemas: Iterable[Mapping[str, Any]]) -> list[Wire]:
    """The tools as functions."""
    return [{"type": "function", "function": dict(schema)} for schema in schemas]


def _system(turn: Turn) -> Iterator[Wire]:
    if text := _text(turn.blocks):
        yield {"role": "system", "content": text}


def _user(turn: Turn) -> Iterator[Wire]:
    parts = [_part(block) for block in turn.blocks if not is_silent(block)]
    yield {"role": "user", "content": _joined(parts) or "(empty message)"}


def _assistant(turn: Turn) -> Iterator[Wire]:
    calls = [b for b in turn.blocks if isinstance(b, ToolUseBlock) and b.name]
    said = [b for b in turn.blocks if not isinstance(b, ToolUseBlock)]
    text = _text(said)
    if not calls and not text:
        return
    message: Wire = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    yield message


def _results(turn: Turn) -> Iterator[Wire]:
    shown: list[Wire] = []
    for block in turn.blocks:
        if isinstance(block, ToolResultBlock):
            yield {
                "role": "tool",
                "tool_call_id": plain_id(block.id),
                "content": result_text(block),
            }
            shown += _pictures(block)
    if shown:
        yield {"role": "user", "content": shown}


_WRITERS = {
    Speaker.SYSTEM: _system,
    Speaker.USER: _user,
    Speaker.ASSISTANT: _assistant,
    Speaker.TOOL: _results,
}


def _call(block: ToolUseBlock) -> Wire:
    wire: Wire = {
        "id": plain_id(block.id),
        "type": "function",
        "function": {"name": plain_name(block.name), "arguments": codec.dumps(block.input)},
    }
    extra = block.metadata.get(EXTRA_CONTENT)
    return {**wire, EXTRA_CONTENT: extra} if extra else wire


def result_text(block: ToolResultBlock) -> str:
    """A result as text; a failure says so, as the wire has no other sign for it."""
    text = _text(block.output) or NO_OUTPUT
    failed = block.state not in (ToolResultState.SUCCESS, ToolResultState.RUNNING)
    marked = text.startswith(("[", "Error"))
    return f"[{block.state}] {text}" if failed and not marked else text


def _pictures(block: ToolResultBlock) -> list[Wire]:
    """A result may hold text only, so its pictures follow in the user's place."""
    images = [_part(b) for b in block.output if (m := media_of(b)) is not None and m.is_image]
    if not images:
        return []
    words = f"<system-reminder>Images that {block.name} returned:</system-reminder>"
    return [{"type": "text", "text": words}, *images]


def _part(block: Block) -> Wire:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    media = media_of(block)
    if media is not None and media.is_image:
        return {"type": "image_url", "image_url": {"url": media.data_url}}
    return {"type": "text", "text": _words(block)}


def _words(block: Block) -> str:
    media = media_of(block)
    inline = text_in(media) if media is not None else None
    return explained(block).text if inline is None else inline


def _text(blocks: Iterable[Block]) -> str:
    """The text of blocks; what is no text is named."""
    return "\n".join(
        block.text if isinstance(block, TextBlock) else _words(block)
        for block in blocks
        if not is_silent(block)
    )


def _joined(parts: Sequence[Wire]) -> str | list[Wire]:
    """Plain text where nothing else is in it: many servers know no other."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return list(parts)
