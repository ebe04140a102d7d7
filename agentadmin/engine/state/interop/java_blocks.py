"""Content blocks as AgentScope for Java reads them; a block that it reads as it is stays itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    HintBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
    wrap,
)
from agentadmin.engine.state.interop.parts import kept, known_word, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentadmin.engine.messages.blocks import Raw
    from agentadmin.engine.state.interop.losses import Losses

NO_PLACE = "has no place in a document of AgentScope for Java"

_TIMES = ("created_at", "finished_at")
_CALL_ONLY = (*_TIMES, "suggested_rules")
_PLAIN = ("type", "thinking", "metadata", "id", *_TIMES)
_SOURCE_FIELDS = {"url": ("url",), "base64": ("media_type", "data")}


def java_block(raw: Raw, path: str, losses: Losses) -> Raw | None:
    """The block for Java; None, and a loss, where Java knows nothing like it."""
    convert = _CONVERTERS.get(raw.get("type", ""))
    if convert is None:
        losses.dropped(path, f"AgentScope for Java knows no block of type {raw.get('type')}")
        return None
    return convert(raw, path, losses)


def java_blocks(raws: list[Any], path: str, losses: Losses) -> list[Raw]:
    """The blocks of an array, without its nulls and without what Java does not know."""
    blocks = (
        java_block(raw, f"{path}[{index}]", losses)
        for index, raw in enumerate(raws)
        if raw is not None
    )
    return [block for block in blocks if block is not None]


def _text(raw: Raw, path: str, losses: Losses) -> Raw:
    return without(raw, ("id", *_TIMES), path, losses, NO_PLACE)


def _thinking(raw: Raw, path: str, losses: Losses) -> Raw:
    """Python lets providers add fields of their own; here they are metadata."""
    if "metadata" in raw and not any(name in raw for name in _TIMES):
        return raw
    added = {name: value for name, value in raw.items() if name not in _PLAIN}
    without(raw, ("id", *_TIMES), path, losses, NO_PLACE)
    metadata = {**(raw.get("metadata") or {}), **added}
    return {"type": "thinking", "thinking": raw.get("thinking"), "metadata": metadata or None}


def _media(raw: Raw, path: str, losses: Losses) -> Raw | None:
    source = _source(raw.get("source"))
    if source is None:
        losses.dropped(path, "a block without a usable source cannot be read there")
        return None
    plain = without(raw, _TIMES, path, losses, NO_PLACE)
    return plain if source is raw["source"] else {**plain, "source": source}


def _video(raw: Raw, path: str, losses: Losses) -> Raw | None:
    return raw if raw.get("source") is None else _media(raw, path, losses)


def _source(source: Any) -> Raw | None:
    if not isinstance(source, dict):
        return None
    fields = _SOURCE_FIELDS.get(source.get("type", ""))
    if fields is None or not all(isinstance(source.get(name), str) for name in fields):
        return None
    if source["type"] == "url" and "media_type" in source and "mime_type" not in source:
        return {"mime_type" if k == "media_type" else k: v for k, v in source.items()}
    return source


def _data(raw: Raw, path: str, losses: Losses) -> Raw | None:
    block = _media(raw, path, losses)
    if block is None or ("name" in block and block["name"] is None and "created_at" in raw):
        return block and {k: v for k, v in block.items() if k != "name"}
    return block


def _tool_use(raw: Raw, path: str, losses: Losses) -> Raw:
    state = known_word(raw, ToolCallState, ToolCallState.PENDING, path, losses)
    textual = isinstance(raw.get("input"), str)
    if raw["type"] == "tool_use" and state == raw.get("state") and not textual:
        return raw
    call = ToolUseBlock(raw)
    if raw.get("suggested_rules"):
        losses.dropped(f"{path}.suggested_rules", NO_PLACE)
    without(raw, _TIMES, path, losses, NO_PLACE)
    known = ("type", "id", "name", "input", "content", "metadata", "state", *_CALL_ONLY)
    return {
        "type": "tool_use",
        "id": raw.get("id"),
        "name": raw.get("name"),
        "input": call.input,
        "content": call.content,
        "metadata": call.metadata,
        "state": state,
        **kept(raw, known),
    }


def _tool_result(raw: Raw, path: str, losses: Losses) -> Raw:
    result = ToolResultBlock(raw)
    metadata = {name: value for name, value in result.metadata.items() if value is not None}
    for name in result.metadata.keys() - metadata.keys():
        losses.dropped(f"{path}.metadata.{name}", "null is refused there")
    changed: Raw = {}
    state = known_word(raw, ToolResultState, ToolResultState.ERROR, path, losses)
    if state != raw.get("state"):
        changed["state"] = state
    if metadata != result.metadata:
        changed["metadata"] = metadata
    output = raw.get("output")
    if isinstance(output, str):
        changed["output"] = [{"type": "text", "text": output}]
    elif output and (blocks := _output(output, f"{path}.output", losses)) != output:
        changed["output"] = blocks
    plain = without(raw, _TIMES, path, losses, NO_PLACE)
    return {**plain, **changed} if changed else plain


def _output(raws: list[Any], path: str, losses: Losses) -> list[Raw]:
    """What a tool gave; results and hints within it, which may nest without end, are left out."""
    blocks = []
    for index, raw in enumerate(raws):
        place = f"{path}[{index}]"
        if raw is not None and raw.get("type") in ("tool_result", "hint"):
            losses.dropped(place, f"a {raw['type']} within a result is not written")
        elif raw is not None and (block := java_block(raw, place, losses)) is not None:
            blocks.append(block)
    return blocks


def _hint(raw: Raw, path: str, losses: Losses) -> Raw:
    plain = without(raw, _TIMES, path, losses, NO_PLACE)
    parts = raw.get("hint")
    if not isinstance(parts, list):
        return plain
    for index, part in enumerate(parts):
        place = f"{path}.hint[{index}]"
        if part is not None and wrap(part).type != "text":
            losses.dropped(place, "a hint is plain text there")
        elif part is not None:
            without(part, ("id", *_TIMES), place, losses, NO_PLACE)
    if len(parts) > 1:
        losses.changed(f"{path}.hint", "a hint is one text there")
    return {**plain, "hint": HintBlock(raw).hint}


_CONVERTERS: dict[str, Callable[[Raw, str, Losses], Raw | None]] = {
    "text": _text,
    "thinking": _thinking,
    "image": _media,
    "audio": _media,
    "video": _video,
    "data": _data,
    "tool_use": _tool_use,
    "tool_call": _tool_use,
    "tool_result": _tool_result,
    "hint": _hint,
}
