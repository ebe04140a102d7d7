"""What makes a raw message or block acceptable; every refusal names its JSON path.

Unknown fields, unknown block types and unknown enum values pass: they are kept as they are. Nested
results are walked with a stack of our own, so that no nesting can exhaust Python's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.messages.vocabulary import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    Pending = list[tuple[list[Any], str]]

_MEDIA = ("text", "data", "image", "audio", "video")
_CALLS = ("thinking", "tool_use", "tool_result", "hint")
_REFUSED_BY_ROLE = {
    Role.USER: frozenset(_CALLS),
    Role.SYSTEM: frozenset((*_CALLS, *_MEDIA)) - {"text"},
}
_SOURCE_FIELDS = {"url": ("url",), "base64": ("media_type", "data")}


def check_message(raw: Any, path: str = "") -> None:
    """Refuses what no reader could understand as a message."""
    try:
        _check_message(raw)
    except DecodeError as error:
        raise error.under(path) from None


def check_block(raw: Any, path: str = "") -> None:
    """Refuses what no reader could understand as a content block."""
    try:
        pending: Pending = []
        _check_one(raw, "", pending)
        _check_pending(pending)
    except DecodeError as error:
        raise error.under(path) from None


def _check_message(raw: Any) -> None:
    if not isinstance(raw, dict):
        raise DecodeError("a message must be an object")
    for field in ("id", "name", "role", "timestamp"):
        _optional(raw, field, str, "text")
    _optional(raw, "metadata", dict, "an object")
    _optional(raw, "usage", dict, "an object")
    _optional(raw, "content", list, "an array of blocks")
    content = raw.get("content") or []
    _check_pending([(content, "content")])
    refused = _REFUSED_BY_ROLE.get(raw.get("role"))  # type: ignore[arg-type]  # plain text is equal
    if refused:
        _check_role(content, refused, raw["role"])


def _check_role(content: list[Any], refused: frozenset[str], role: str) -> None:
    for index, block in enumerate(content):
        if block is not None and block["type"] in refused:
            raise DecodeError(
                f"a {role} message may not hold a {block['type']} block", path=f"content[{index}]"
            )


def _check_pending(pending: Pending) -> None:
    while pending:
        blocks, prefix = pending.pop()
        for index, raw in enumerate(blocks):
            if raw is not None:  # AgentScope drops null elements
                _check_one(raw, f"{prefix}[{index}]", pending)


def _check_one(raw: Any, path: str, pending: Pending) -> None:
    try:
        if not isinstance(raw, dict):
            raise DecodeError("a block must be an object")
        if not isinstance(raw.get("type"), str):
            raise DecodeError("a block needs a type", path="type")
        check = _CHECKS.get(raw["type"])
        if check is not None:
            check(raw)
    except DecodeError as error:
        raise error.under(path) from None
    for field in ("output", "hint"):
        if isinstance(raw.get(field), list) and raw["type"] in ("tool_result", "hint"):
            pending.append((raw[field], f"{path}.{field}" if path else field))


def _optional(raw: dict[str, Any], field: str, kind: type, name: str) -> None:
    value = raw.get(field)
    if value is not None and not isinstance(value, kind):
        raise DecodeError(f"must be {name}", path=field)


def _text_check(field: str) -> Callable[[dict[str, Any]], None]:
    def check(raw: dict[str, Any]) -> None:
        _optional(raw, field, str, "text")

    return check


def _check_thinking(raw: dict[str, Any]) -> None:
    _optional(raw, "thinking", str, "text")
    _optional(raw, "metadata", dict, "an object")


def _check_media(raw: dict[str, Any]) -> None:
    if raw.get("source") is None:
        raise DecodeError("a source is needed", path="source")
    _check_source(raw["source"])


def _check_video(raw: dict[str, Any]) -> None:
    if raw.get("source") is not None:
        _check_source(raw["source"])


def _check_data(raw: dict[str, Any]) -> None:
    _check_media(raw)
    _optional(raw, "id", str, "text")
    _optional(raw, "name", str, "text")


def _check_source(source: Any) -> None:
    if not isinstance(source, dict):
        raise DecodeError("a source must be an object", path="source")
    kind = source.get("type")
    fields = _SOURCE_FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        raise DecodeError("the type of a source must be url or base64", path="source")
    for field in fields:
        if not isinstance(source.get(field), str):
            raise DecodeError("must be text", path=f"source.{field}")


def _check_call(raw: dict[str, Any]) -> None:
    for field in ("id", "name", "state", "content"):
        _optional(raw, field, str, "text")
    _optional(raw, "input", dict, "an object")
    _optional(raw, "metadata", dict, "an object")


def _check_python_call(raw: dict[str, Any]) -> None:
    """AgentScope for Python keeps a call's input as text."""
    for field in ("id", "name", "state"):
        _optional(raw, field, str, "text")
    if not isinstance(raw.get("input"), str | dict | None):
        raise DecodeError("must be text or an object", path="input")


def _check_result(raw: dict[str, Any]) -> None:
    for field in ("id", "name", "state"):
        _optional(raw, field, str, "text")
    _optional(raw, "metadata", dict, "an object")
    if not isinstance(raw.get("output"), list | str | None):
        raise DecodeError("must be an array of blocks", path="output")


def _check_hint(raw: dict[str, Any]) -> None:
    if not isinstance(raw.get("hint"), list | str | None):
        raise DecodeError("must be text", path="hint")


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "text": _text_check("text"),
    "thinking": _check_thinking,
    "image": _check_media,
    "audio": _check_media,
    "video": _check_video,
    "data": _check_data,
    "tool_use": _check_call,
    "tool_call": _check_python_call,
    "tool_result": _check_result,
    "hint": _check_hint,
}
