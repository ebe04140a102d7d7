"""Pictures and files of a conversation: what can be sent, and words for what cannot."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from agentadmin.engine.messages import (
    AudioBlock,
    Block,
    DataBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    VideoBlock,
)

IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF = "application/pdf"
MOST_INLINE_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Media:
    """A block's source: either an address or base64 data."""

    kind: str
    media_type: str
    url: str = ""
    data: str = ""
    name: str = ""

    @property
    def is_image(self) -> bool:
        return self.media_type in IMAGES or (self.kind == "image" and not self.media_type)

    @property
    def is_pdf(self) -> bool:
        return self.media_type == PDF

    @property
    def data_url(self) -> str:
        """The address, or the data as an address."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


def media_of(block: Block) -> Media | None:
    """The media of a block, where a provider could fetch or read it; else None."""
    if not isinstance(block, ImageBlock | AudioBlock | VideoBlock | DataBlock):
        return None
    source = block.source or {}
    kind = block.type
    name = (block.name or "") if isinstance(block, DataBlock) else ""
    if source.get("type") == "base64" and source.get("data"):
        media_type = str(source.get("media_type") or "")
        return Media(kind, media_type, data=str(source["data"]), name=name)
    url = str(source.get("url") or "")
    if source.get("type") == "url" and url.startswith(("http://", "https://")):
        media_type = str(source.get("mime_type") or source.get("media_type") or "")
        return Media(kind, media_type, url=url, name=name)
    return None


def text_in(media: Media) -> str | None:
    """The text of a small text file; None for everything else."""
    if not media.data or not media.media_type.startswith("text/"):
        return None
    if len(media.data) > MOST_INLINE_TEXT:
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def explained(block: Block) -> TextBlock:
    """Words in the place of what cannot be sent, so that the model knows that it was there."""
    media = media_of(block)
    source = block.raw.get("source") or {}
    media_type = source.get("media_type") or source.get("mime_type") or ""
    named = str(block.raw.get("name") or "")
    where = f" at {source['url']}" if source.get("url") and media is not None else ""
    size = f", about {len(media.data) * 3 // 4} bytes" if media and media.data else ""
    what = " ".join(part for part in (block.type or "unknown", str(media_type), named) if part)
    return TextBlock.make(f"[{what}{size}{where}: this model cannot be shown it]")


def is_silent(block: Block) -> bool:
    """Whether the block is left out without words."""
    if isinstance(block, TextBlock):
        return not block.text.strip()
    return isinstance(block, ThinkingBlock) or (isinstance(block, ToolUseBlock) and not block.name)
