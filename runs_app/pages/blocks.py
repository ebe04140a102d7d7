"""A message's blocks as the page shows them: bounded text, chips for media, trees for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app.journal.unreadable import UNREADABLE

MAX_TEXT = 64 * 1024
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "data": "file"}
CALLS = frozenset({"tool_use", "tool_call"})
RESULTS = frozenset({"tool_result"})


@dataclass(frozen=True, slots=True)
class Shown:
    """One block: its kind decides how the template draws it."""

    kind: str
    text: str = ""
    size: int = 0
    note: str = ""
    raw: Any = None

    @property
    def cut(self) -> bool:
        """Whether only the beginning is shown."""
        return self.size > len(self.text)


def raw_blocks(message: Any) -> list[dict[str, Any]]:
    """A message's blocks, whatever shape its content has; plain text is one text block."""
    if isinstance(message, dict) and UNREADABLE in message:
        return [{"type": UNREADABLE, **message[UNREADABLE]}]
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return [] if content is None else [{"type": "unreadable content", "value": content}]
    return [b if isinstance(b, dict) else {"type": "unreadable", "value": b} for b in content]


def shown_block(block: dict[str, Any]) -> Shown:
    """One block, bounded in size."""
    kind = str(block.get("type", ""))
    if kind == UNREADABLE:
        return Shown("unreadable", str(block.get("why") or ""), note=str(block.get("field") or ""))
    if kind == "text":
        return _text("text", block.get("text"))
    if kind == "thinking":
        return _text("thinking", block.get("thinking"))
    if kind == "hint":
        return _text("hint", _plain(block.get("hint")))
    if kind in _MEDIA:
        return _media(_MEDIA[kind], block)
    return Shown("unknown", note=kind or "without a type", raw=block)


def output_of(result: dict[str, Any]) -> tuple[str, list[Shown]]:
    """A tool result's text, and what else it holds."""
    output = result.get("output")
    if isinstance(output, str):
        return output, []
    blocks = raw_blocks({"content": output})
    texts = [str(b.get("text") or "") for b in blocks if b.get("type") == "text"]
    others = [shown_block(b) for b in blocks if b.get("type") != "text"]
    return "\n".join(texts), others


def _text(kind: str, value: Any) -> Shown:
    text = value if isinstance(value, str) else "" if value is None else repr(value)
    return Shown(kind, text[:MAX_TEXT], len(text))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return "\n".join(str(b.get("text") or "") for b in value if isinstance(b, dict))
    return value


def _media(kind: str, block: dict[str, Any]) -> Shown:
    """What it is and how big: pictures of strangers are not drawn by themselves."""
    given = block.get("source")
    source = given if isinstance(given, dict) else {}
    what = str(source.get("media_type") or source.get("mime_type") or "")
    data = source.get("data")
    if isinstance(data, str):
        return Shown("media", note=f"{kind} {what}".strip(), size=len(data) * 3 // 4)
    url = source.get("url")
    address = url[:2000] if isinstance(url, str) else ""
    if address.startswith("data:"):
        return Shown("media", note=f"{kind} {address[5:40].split(',')[0]}", size=len(str(url)))
    return Shown("media", text=address, note=f"{kind} {what}".strip(), size=len(address))
