"""Content blocks: thin views of raw objects, so that nothing in them is ever lost.

A block is immutable by convention: `replace` gives another one. Both layouts of AgentScope are
read here: Java's `tool_use` and Python's `tool_call` are the same kind of block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.identity import new_hex
from agentadmin.engine.messages.checks import check_block
from agentadmin.engine.messages.vocabulary import (
    ARGUMENT_LEVELS,
    SUSPENDED,
    ToolCallState,
    ToolResultState,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterable

Raw = dict[str, Any]


class Block:
    """One part of a message's content."""

    __slots__ = ("raw",)
    __hash__ = None  # type: ignore[assignment]  # a view of a dict has no stable hash

    def __init__(self, raw: Raw) -> None:
        self.raw = raw

    @property
    def type(self) -> str:
        return str(self.raw.get("type", ""))

    def to_dict(self) -> Raw:
        return self.raw

    def replace(self, **fields: Any) -> Self:
        return type(self)({**self.raw, **fields})

    @staticmethod
    def from_dict(raw: Any, path: str = "") -> Block:
        check_block(raw, path)
        return wrap(raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.raw == other.raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.raw!r})"


class UnknownBlock(Block):
    """A block of a type from the future, or from elsewhere."""

    __slots__ = ()


class TextBlock(Block):
    """Visible text."""

    __slots__ = ()

    @classmethod
    def make(cls, text: str) -> Self:
        return cls({"type": "text", "text": text})

    @property
    def text(self) -> str:
        return self.raw.get("text") or ""


class ThinkingBlock(Block):
    """A model's reasoning; signatures live in the metadata."""

    __slots__ = ()

    @classmethod
    def make(cls, thinking: str, metadata: Raw | None = None) -> Self:
        return cls({"type": "thinking", "thinking": thinking, "metadata": metadata})

    @property
    def thinking(self) -> str:
        return self.raw.get("thinking") or ""

    @property
    def metadata(self) -> Raw:
        return self.raw.get("metadata") or {}


class _MediaBlock(Block):
    """What image, audio, video and data have in common: a source."""

    __slots__ = ()

    @property
    def source(self) -> Raw | None:
        return self.raw.get("source")


class _PlainMediaBlock(_MediaBlock):
    """Media whose only further fields are optional numbers."""

    __slots__ = ()
    wire_type: ClassVar[str]

    @classmethod
    def make(cls, source: Raw, **options: float | None) -> Self:
        """Options go by their wire names, as `minPixels`; None leaves one out."""
        given = {name: value for name, value in options.items() if value is not None}
        return cls({"type": cls.wire_type, "source": source, **given})


class ImageBlock(_PlainMediaBlock):
    """A picture."""

    __slots__ = ()
    wire_type = "image"


class AudioBlock(_PlainMediaBlock):
    """A sound."""

    __slots__ = ()
    wire_type = "audio"


class VideoBlock(_PlainMediaBlock):
    """A film; AgentScope tolerates one without a source."""

    __slots__ = ()
    wire_type = "video"


class DataBlock(_MediaBlock):
    """A file of any kind."""

    __slots__ = ()

    @classmethod
    def make(cls, source: Raw, *, id: str | None = None, name: str | None = None) -> Self:
        raw: Raw = {"type": "data", "source": source, "id": id or new_hex()}
        return cls(raw if name is None else {**raw, "name": name})

    @property
    def name(self) -> str | None:
        return self.raw.get("name")


class HintBlock(Block):
    """Text that the system put in, not the user."""

    __slots__ = ()

    @classmethod
    def make(cls, hint: str, *, id: str | None = None, source: str | None = None) -> Self:
        return cls({"type": "hint", "id": id or new_hex(), "hint": hint, "source": source})

    @property
    def hint(self) -> str:
        return text_of(_blocks(self.raw.get("hint")))

    @property
    def source(self) -> str | None:
        return self.raw.get("source")


class ToolUseBlock(Block):
    """A model's wish to call a tool."""

    __slots__ = ()

    @classmethod
    def make(
        cls,
        *,
        id: str,
        name: str,
        input: Raw | None = None,
        content: str | None = None,
        metadata: Raw | None = None,
        state: str = ToolCallState.PENDING,
    ) -> Self:
        return cls(
            {
                "type": "tool_use",
                "id": id,
                "name": name,
                "input": input or {},
                "content": content,
                "metadata": metadata or {},
                "state": str(state),
            }
        )

    @property
    def id(self) -> str:
        return self.raw.get("id") or ""

    @property
    def name(self) -> str:
        return self.raw.get("name") or ""

    @property
    def input(self) -> Raw:
        """The arguments; empty when the text they came as is cut off."""
        given = self.raw.get("input")
        if isinstance(given, str):
            return _object_in(given) or {}
        return given or {}

    @property
    def content(self) -> str | None:
        """The arguments as the text that was streamed, where it was kept."""
        given = self.raw.get("input")
        return given if isinstance(given, str) else self.raw.get("content")

    @property
    def truncated(self) -> bool:
        """Whether the streamed arguments broke off, so that `input` is not what was meant."""
        given = self.raw.get("input")
        if isinstance(given, str):
            return bool(given) and _object_in(given) is None
        text = self.raw.get("content") or ""
        return bool(text) and not given and _object_in(text) is None

    @property
    def metadata(self) -> Raw:
        return self.raw.get("metadata") or {}

    @property
    def state(self) -> str:
        """A `ToolCallState`, or the raw value of an unknown one."""
        return self.raw.get("state") or ToolCallState.PENDING.value


class ToolResultBlock(Block):
    """What came of a tool call with the same id."""

    __slots__ = ()

    @classmethod
    def make(
        cls,
        *,
        id: str,
        name: str,
        output: str | Iterable[Block] = (),
        metadata: Raw | None = None,
        state: str = ToolResultState.SUCCESS,
    ) -> Self:
        blocks = [TextBlock.make(output)] if isinstance(output, str) else output
        return cls(
            {
                "type": "tool_result",
                "id": id,
                "name": name,
                "output": [block.raw for block in blocks],
                "metadata": metadata or {},
                "state": str(state),
            }
        )

    @property
    def id(self) -> str:
        return self.raw.get("id") or ""

    @property
    def name(self) -> str:
        return self.raw.get("name") or ""

    @property
    def output(self) -> tuple[Block, ...]:
        return _blocks(self.raw.get("output"))

    @property
    def text(self) -> str:
        return text_of(self.output)

    @property
    def metadata(self) -> Raw:
        return self.raw.get("metadata") or {}

    @property
    def suspended(self) -> bool:
        """A placeholder: the real result comes from outside, and the call stays open."""
        waits = self.metadata.get(SUSPENDED) is True
        return waits and self.state == ToolResultState.RUNNING

    @property
    def state(self) -> str:
        """A `ToolResultState`, or the raw value of an unknown one."""
        return self.raw.get("state") or ToolResultState.RUNNING.value


_CLASSES: dict[str, type[Block]] = {
    "text": TextBlock,
    "thinking": ThinkingBlock,
    "image": ImageBlock,
    "audio": AudioBlock,
    "video": VideoBlock,
    "data": DataBlock,
    "hint": HintBlock,
    "tool_use": ToolUseBlock,
    "tool_call": ToolUseBlock,
    "tool_result": ToolResultBlock,
}


def wrap(raw: Raw) -> Block:
    """The view that fits a raw block, which is taken to be valid."""
    return _CLASSES.get(raw.get("type", ""), UnknownBlock)(raw)


def text_of(blocks: Iterable[Block]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def url_source(url: str, mime_type: str | None = None) -> Raw:
    source = {"type": "url", "url": url}
    return source if mime_type is None else {**source, "mime_type": mime_type}


def base64_source(media_type: str, data: str) -> Raw:
    return {"type": "base64", "media_type": media_type, "data": data}


def _blocks(value: Any) -> tuple[Block, ...]:
    """AgentScope for Python writes plain text where Java writes an array of blocks."""
    if isinstance(value, str):
        return (TextBlock.make(value),)
    return tuple(wrap(raw) for raw in value or () if raw is not None)


def _object_in(text: str) -> Raw | None:
    try:
        value = codec.loads(text, levels=ARGUMENT_LEVELS)
    except (DecodeError, TooDeep):
        return None
    return value if isinstance(value, dict) else None
