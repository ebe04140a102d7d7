"""Our messages as Anthropic's messages want them: thinking goes back exactly as it was signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    Block,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
)
from agentadmin.engine.models.media import (
    IMAGES,
    Media,
    explained,
    is_silent,
    media_of,
    text_in,
)
from agentadmin.engine.models.turns import Speaker, Turn, hint, plain_id, plain_name, turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SIGNATURE = "signature"
REDACTED = "redacted_thinking_data"
"""Where the opaque data of thinking that may not be read stands in a block's metadata."""
NO_OUTPUT = "(no output)"
FAILED = frozenset({ToolResultState.ERROR, ToolResultState.INTERRUPTED, ToolResultState.DENIED})

Wire = dict[str, Any]


def wire_messages(messages: Iterable[Msg]) -> tuple[str, list[Wire]]:
    """The system prompt, and the conversation by turns of user and assistant."""
    system: list[str] = []
    made: list[Wire] = []
    for turn in turns(messages):
        if turn.speaker is Speaker.SYSTEM and not made:
            system.append(_text(turn))
            continue
        role = "assistant" if turn.speaker is Speaker.ASSISTANT else "user"
        content = [part for block in turn.blocks for part in _parts(block, turn.speaker)]
        if content and made and made[-1]["role"] == role:
            made[-1]["content"] += content
        elif content:
            made.append({"role": role, "content": content})
    return "\n\n".join(text for text in system if text.strip()), _framed(made)


def _framed(made: list[Wire]) -> list[Wire]:
    """A conversation begins and ends with the user, whatever was said."""
    if not made or made[0]["role"] != "user":
        made.insert(0, _said("The conversation begins with the assistant." if made else "Begin."))
    if made[-1]["role"] != "user":
        made.append(_said("Go on."))
    return made


def _said(text: str) -> Wire:
    return {"role": "user", "content": [{"type": "text", "text": hint(text).text}]}


def wire_tools(schemas: Iterable[Mapping[str, Any]]) -> list[Wire]:
    """The tools as Anthropic names their parts."""
    return [
        {
            "name": schema["name"],
            "description": schema.get("description") or "",
            "input_schema": {"type": "object", **schema.get("parameters", {})},
        }
        for schema in schemas
    ]


def _text(turn: Turn) -> str:
    return "\n".join(block.text for block in turn.blocks if isinstance(block, TextBlock))


def _parts(block: Block, speaker: Speaker) -> list[Wire]:
    if isinstance(block, ThinkingBlock):
        return _thinking(block)
    if is_silent(block):
        return []
    if isinstance(block, ToolUseBlock):
        return [_call(block)]
    if isinstance(block, ToolResultBlock):
        return [_result(block)]
    if speaker is Speaker.SYSTEM and isinstance(block, TextBlock):
        return [_part(hint(block.text))]
    return [_part(block) if speaker is not Speaker.ASSISTANT else _words(block)]


def _thinking(block: ThinkingBlock) -> list[Wire]:
    """Signed thinking as it came; what nobody signed would be refused, so it stays here."""
    noted = {**block.raw, **block.metadata}
    if isinstance(noted.get(REDACTED), str):
        return [{"type": "redacted_thinking", "data": noted[REDACTED]}]
    if isinstance(noted.get(SIGNATURE), str) and noted[SIGNATURE]:
        signature = noted[SIGNATURE]
        return [{"type": "thinking", "thinking": block.thinking, "signature": signature}]
    return []


def _call(block: ToolUseBlock) -> Wire:
    return {
        "type": "tool_use",
        "id": plain_id(block.id),
        "name": plain_name(block.name),
        "input": block.input,
    }


def _result(block: ToolResultBlock) -> Wire:
    content = [_part(part) for part in block.output if not is_silent(part)]
    wire: Wire = {
        "type": "tool_result",
        "tool_use_id": plain_id(block.id),
        "content": content or [{"type": "text", "text": NO_OUTPUT}],
    }
    return {**wire, "is_error": True} if block.state in FAILED else wire


def _part(block: Block) -> Wire:
    media = media_of(block)
    if media is not None and media.is_image and (media.url or media.media_type in IMAGES):
        return {"type": "image", "source": _source(media)}
    if media is not None and media.is_pdf:
        return {"type": "document", "source": _source(media)}
    return _words(block)


def _source(media: Media) -> Wire:
    if media.url:
        return {"type": "url", "url": media.url}
    return {"type": "base64", "media_type": media.media_type, "data": media.data}


def _words(block: Block) -> Wire:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    media = media_of(block)
    inline = text_in(media) if media is not None else None
    words = inline if inline and inline.strip() else explained(block).text
    return {"type": "text", "text": words}
