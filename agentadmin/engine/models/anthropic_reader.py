"""Reading the events of Anthropic's message streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import ContextOverflow, ModelError
from agentadmin.engine.models import failures
from agentadmin.engine.models.anthropic_messages import REDACTED, SIGNATURE
from agentadmin.engine.models.base import (
    Chunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.models.failures import Place


@dataclass(slots=True)
class _Open:
    """A content block that is being streamed."""

    kind: str
    input: Any = None
    spoke: bool = False
    signature: list[str] = field(default_factory=list)


class AnthropicReader:
    """Blocks are told apart by their index; unknown blocks and deltas are passed over."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._blocks: dict[str, _Open] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._spoke = False

    def feed(self, event: dict[str, Any]) -> Iterator[Chunk]:
        """What an event adds."""
        kind = event.get("type")
        key = str(event.get("index", 0))
        if kind == "content_block_start":
            yield from self._start(key, _object(event.get("content_block")))
        elif kind == "content_block_delta":
            yield from self._delta(key, _object(event.get("delta")))
        elif kind == "content_block_stop":
            yield from self._end(key)
        elif kind == "message_start":
            self._count(_object(event.get("message")).get("usage"))
        elif kind == "message_delta":
            self._count(event.get("usage"))
            reason = _object(event.get("delta")).get("stop_reason")
            self._stop = reason if isinstance(reason, str) else self._stop
        elif kind == "error":
            raise failures.of_stream(self._place, event)

    def _start(self, key: str, block: dict[str, Any]) -> Iterator[Chunk]:
        kind = str(block.get("type"))
        self._spoke = self._spoke or kind in ("text", "tool_use")
        self._blocks[key] = _Open(kind, input=block.get("input"))
        if kind == "tool_use":
            yield ToolCallChunk(key, _plain(block.get("id")), _plain(block.get("name")))
        elif kind == "redacted_thinking":
            yield ThinkingChunk("", {REDACTED: _plain(block.get("data"))}, key)
        elif kind == "text" and (text := _plain(block.get("text"))):
            yield TextChunk(text)
        elif kind == "thinking":
            yield from self._delta(key, {**block, "type": "thinking_delta"})
            self._blocks[key].signature.append(_plain(block.get("signature")))

    def _delta(self, key: str, delta: dict[str, Any]) -> Iterator[Chunk]:
        kind = delta.get("type")
        block = self._blocks.setdefault(key, _Open("text"))
        if kind == "text_delta" and (text := _plain(delta.get("text"))):
            yield TextChunk(text)
        elif kind == "thinking_delta" and (thought := _plain(delta.get("thinking"))):
            yield ThinkingChunk(thought, None, key)
        elif kind == "signature_delta":
            block.signature.append(_plain(delta.get("signature")))
        elif kind == "input_json_delta" and (piece := _plain(delta.get("partial_json"))):
            block.spoke = True
            yield ToolCallChunk(key, arguments=piece)

    def _end(self, key: str) -> Iterator[Chunk]:
        """A signature belongs to its whole block, and a call may have come in one piece."""
        block = self._blocks.get(key)
        if block is None:
            return
        if signature := "".join(block.signature):
            yield ThinkingChunk("", {SIGNATURE: signature}, key)
        if block.kind == "tool_use" and not block.spoke and isinstance(block.input, dict):
            yield ToolCallChunk(key, arguments=codec.dumps(block.input))

    def _count(self, usage: Any) -> None:
        """Later counts are of the whole answer and replace earlier ones."""
        for name, value in _object(usage).items():
            if isinstance(value, int) and not isinstance(value, bool):
                self._usage[name] = value

    def finish(self) -> Iterator[Chunk]:
        """The usage. Raises ModelError for an answer that broke off or was withheld."""
        if self._stop is None:
            raise failures.cut_off(self._place)
        if self._stop == "refusal":
            raise ModelError(f"{self._place.who} declined to answer this.", retryable=False)
        if self._stop == "model_context_window_exceeded" and not self._spoke:
            raise ContextOverflow(f"The conversation is too long for {self._place.model}.")
        if self._stop == "max_tokens" and not self._spoke:
            raise failures.spent(self._place)
        if self._usage:
            yield self._counted()

    def _counted(self) -> UsageChunk:
        """Tokens read from and written to the cache are input, too."""
        usage = self._usage
        cached = usage.get("cache_read_input_tokens", 0)
        written = usage.get("cache_creation_input_tokens", 0)
        read = usage.get("input_tokens", 0) + cached + written
        return UsageChunk(read, usage.get("output_tokens", 0), cached)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else ""
