"""Content blocks as AgentScope for Python reads them."""

from __future__ import annotations

import mimetypes
import re
from typing import TYPE_CHECKING, Any

from agentadmin.engine.messages import (
    HintBlock,
    ToolCallState,
    ToolResultState,
    ToolUseBlock,
    wrap,
)
from agentadmin.engine.state import codec
from agentadmin.engine.state.interop.parts import kept, known_word, without

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentadmin.engine.messages.blocks import Raw
    from agentadmin.engine.state.interop.losses import Losses

NO_PLACE = "has no place in a document of AgentScope for Python"
TYPES = frozenset({"text", "thinking", "hint", "tool_call", "tool_result", "data"})

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\ud800-\udfff]+")
_MEDIA_TYPES = mimetypes.MimeTypes()  # its own list, the same on every machine
_PIXELS = ("minPixels", "maxPixels", "totalPixels", "fps", "maxFrames")
_OPTIONS = (*_PIXELS, "min_pixels", "max_pixels", "total_pixels", "max_frames")
_GUESSES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_CALL_FIELDS = ("type", "id", "name", "input", "content", "metadata", "state", "suggested_rules")


def python_block(raw: Raw, path: str, losses: Losses) -> Raw | None:
    """The block for Python; None, and a loss, where Python knows nothing like it."""
    convert = _CONVERTERS.get(raw.get("type", ""))
    if convert is None:
        losses.dropped(path, f"AgentScope for Python knows no block of type {raw.get('type')}")
        return None
    return convert(raw, path, losses)


def is_python(raw: Any) -> bool:
    """Whether Python wrote, or could have written, this block."""
    if not isinstance(raw, dict):
        return False
    if raw.get("type") == "tool_call":
        return isinstance(raw.get("input"), str) and "metadata" not in raw
    return raw.get("type") != "tool_use"


def _text(raw: Raw, _path: str, _losses: Losses) -> Raw:
    return raw if raw.get("text") is not None else {**raw, "text": ""}


def _thinking(raw: Raw, path: str, losses: Losses) -> Raw:
    """Java's metadata are fields of the block itself here."""
    given: Raw = raw.get("metadata") or {}
    plain = {**kept(raw, ("metadata",)), "thinking": raw.get("thinking") or ""}
    for name in given:
        if name in plain:
            losses.dropped(f"{path}.metadata.{name}", "a field of the block has this name there")
    return {**given, **plain} if given.keys() & plain.keys() else {**plain, **given}


def _media(raw: Raw, path: str, losses: Losses) -> Raw | None:
    """Pictures, sounds and films are data here, told apart by their media type."""
    kind: str = raw["type"]
    source = _source(raw.get("source"), kind)
    if source is None:
        losses.dropped(path, "its source is nothing that AgentScope for Python can read")
        return None
    plain = kept(without(raw, _OPTIONS, path, losses, NO_PLACE), ("type", "source"))
    if kind != "data" and not source["media_type"].startswith(f"{kind}/"):
        losses.changed(path, f"{kind} became data of the type {source['media_type'][:40]}")
    return {"type": "data", "source": source, **plain}


def _source(source: Any, kind: str) -> Raw | None:
    if not isinstance(source, dict):
        return None
    if source.get("type") == "base64":
        texts = (source.get("data"), source.get("media_type"))
        return source if all(isinstance(text, str) for text in texts) else None
    url = source.get("url")
    if source.get("type") != "url" or not isinstance(url, str) or not _URL.fullmatch(url):
        return None
    media_type = source.get("media_type") or source.get("mime_type")
    if not isinstance(media_type, str):
        guess = _guess(url)
        fits = kind == "data" or guess.startswith(f"{kind}/")
        media_type = guess if fits else _GUESSES[kind]
    return {**kept(source, ("mime_type",)), "media_type": media_type}


def _guess(url: str) -> str:
    name = re.split(r"[?#]", url)[0].rpartition("/")[2]
    return _MEDIA_TYPES.guess_type(name, strict=False)[0] or "application/octet-stream"


def _tool_call(raw: Raw, path: str, losses: Losses) -> Raw:
    state = known_word(raw, ToolCallState, ToolCallState.PENDING, path, losses)
    without(raw, ("metadata",), path, losses, NO_PLACE)
    return {
        "type": "tool_call",
        "id": raw.get("id") or "",
        "name": raw.get("name") or "",
        "input": _arguments(raw, path, losses),
        "state": state or ToolCallState.PENDING.value,
        "suggested_rules": raw.get("suggested_rules") or [],
        **kept(raw, _CALL_FIELDS),
    }


def _arguments(raw: Raw, path: str, losses: Losses) -> str:
    """The text of the arguments: as it was streamed, unless they were changed since."""
    call = ToolUseBlock(raw)
    text = call.content
    if isinstance(raw.get("input"), str):
        return str(raw["input"])
    if text and (call.truncated or _says(text, call.input)):
        return text
    if text:
        losses.dropped(f"{path}.content", "it is not what the arguments are now")
    return codec.dumps(call.input)


def _says(text: str, arguments: Raw) -> bool:
    spoken = ToolUseBlock({"type": "tool_call", "input": text})
    return not spoken.truncated and codec.dumps(spoken.input) == codec.dumps(arguments)


def _tool_result(raw: Raw, path: str, losses: Losses) -> Raw:
    output = raw.get("output")
    if isinstance(output, list):
        output = _parts(output, f"{path}.output", losses)
    state = known_word(raw, ToolResultState, ToolResultState.ERROR, path, losses)
    return {
        **raw,
        "id": raw.get("id") or "",
        "name": raw.get("name") or "",
        "output": output or [],
        "state": state or ToolResultState.RUNNING.value,
        "metadata": raw.get("metadata") or {},
    }


def _parts(raws: list[Any], path: str, losses: Losses) -> list[Raw]:
    """Texts and data, which are all that a result or a hint may hold."""
    parts = []
    for index, raw in enumerate(raws):
        place = f"{path}[{index}]"
        if raw is None:
            continue
        if raw.get("type") in ("tool_use", "tool_call", "tool_result"):
            losses.dropped(place, f"a {raw['type']} may not stand in it there")
            continue
        part = _part(raw, place, losses)
        if part is not None:
            parts.append(part)
    return parts


def _part(raw: Raw, path: str, losses: Losses) -> Raw | None:
    if raw.get("type") not in ("thinking", "hint"):
        return python_block(raw, path, losses)
    losses.changed(path, f"a {raw['type']} in it is text there")
    block = wrap(raw)
    text = block.hint if isinstance(block, HintBlock) else raw.get("thinking") or ""
    return {"type": "text", "text": text}


def _hint(raw: Raw, path: str, losses: Losses) -> Raw:
    hint = raw.get("hint")
    if isinstance(hint, list):
        return {**raw, "hint": _parts(hint, f"{path}.hint", losses)}
    return raw if hint is not None else {**raw, "hint": ""}


_CONVERTERS: dict[str, Callable[[Raw, str, Losses], Raw | None]] = {
    "text": _text,
    "thinking": _thinking,
    "image": _media,
    "audio": _media,
    "video": _media,
    "data": _media,
    "tool_use": _tool_call,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "hint": _hint,
}
