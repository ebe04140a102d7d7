"""Assembler: chunks of a model's stream become balanced block events and, at the end, blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError, InvalidInput, ModelError, TooDeep
from agentadmin.engine.events import EventType
from agentadmin.engine.identity import new_hex
from agentadmin.engine.messages import Block, TextBlock, ThinkingBlock, ToolUseBlock
from agentadmin.engine.messages.vocabulary import ARGUMENT_LEVELS
from agentadmin.engine.models.base import (
    Chunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentadmin.engine.agents.emitter import Emitter, Step

HIDDEN = "__"
"""Tools whose names start like this are the engine's own and not shown."""


@dataclass(slots=True)
class _Part:
    """A block in the making."""

    kind: str
    block: str
    key: str = ""
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    id: str = ""
    name: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    started: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


_STARTS = {
    "text": EventType.TEXT_BLOCK_START,
    "thinking": EventType.THINKING_BLOCK_START,
    "call": EventType.TOOL_CALL_START,
}
_DELTAS = {
    "text": EventType.TEXT_BLOCK_DELTA,
    "thinking": EventType.THINKING_BLOCK_DELTA,
    "call": EventType.TOOL_CALL_DELTA,
}
_ENDS = {
    "text": EventType.TEXT_BLOCK_END,
    "thinking": EventType.THINKING_BLOCK_END,
    "call": EventType.TOOL_CALL_END,
}


class Assembler:
    """At most one block is open at a time: the start of another one ends it (spec §11)."""

    def __init__(self, emit: Emitter, step: Step, message_id: str) -> None:
        self._emit = emit
        self._step = step
        self._message_id = message_id
        self._parts: list[_Part] = []
        self._calls: dict[str, _Part] = {}
        self._open: _Part | None = None
        self.usage: UsageChunk | None = None

    def feed(self, chunk: Chunk) -> None:
        """Take one chunk in."""
        if isinstance(chunk, TextChunk):
            self._append(self._running("text"), chunk.text)
        elif isinstance(chunk, ThinkingChunk):
            part = self._running("thinking", chunk.key)
            _note(part, chunk.metadata)
            self._append(part, chunk.text)
        elif isinstance(chunk, ToolCallChunk):
            self._feed_call(chunk)
        else:
            self.usage = chunk

    def _running(self, kind: str, key: str = "") -> _Part:
        """The open block of this kind and key, or a new one."""
        if self._open is not None and (self._open.kind, self._open.key) == (kind, key):
            return self._open
        part = _Part(kind, self._step.next_block(), key)
        self._parts.append(part)
        return part

    def _feed_call(self, chunk: ToolCallChunk) -> None:
        part = self._calls.get(chunk.key)
        if part is None:
            part = _Part("call", self._step.next_block())
            self._calls[chunk.key] = part
            self._parts.append(part)
        part.id = part.id or chunk.id
        part.name = part.name or chunk.name
        _note(part, chunk.metadata)
        self._append(part, chunk.arguments)

    def _append(self, part: _Part, text: str) -> None:
        """Show the block as soon as there is something to show; then its text."""
        if part.kind == "call" or text:
            self._start(part)
        offset = part.length
        if text:
            part.pieces.append(text)
            part.length += len(text)
        if text and self._open is part and self._shown(part):
            self._send(_DELTAS[part.kind], part, offset=offset, delta=text)

    def _start(self, part: _Part) -> None:
        if part.started or (part.kind == "call" and not part.name):
            return
        self.close()
        part.started = True
        if part.kind == "call":
            part.id = part.id or f"call_{new_hex()}"
        self._open = part
        if self._shown(part):
            self._send(_STARTS[part.kind], part, messageId=self._message_id)
            if part.pieces:
                self._send(_DELTAS[part.kind], part, delta=part.text)

    def close(self) -> None:
        """End the open block; called before the end of the model call, however it ended."""
        part, self._open = self._open, None
        if part is not None and self._shown(part):
            self._send(_ENDS[part.kind], part, offset=part.length)

    @staticmethod
    def _shown(part: _Part) -> bool:
        return not (part.kind == "call" and part.name.startswith(HIDDEN))

    def _send(self, type_: EventType, part: _Part, *, offset: int = 0, **fields: Any) -> None:
        names: dict[str, Any] = (
            {"toolCallId": part.id, "toolCallName": part.name}
            if part.kind == "call"
            else {"blockId": part.kind}
        )
        self._emit(
            type_,
            self._step,
            block=part.block,
            offset=offset,
            replyId=self._step.reply_id,
            **names,
            **fields,
        )

    def blocks(self, taken: Callable[[], set[str]]) -> list[Block]:
        """The whole message; call ids that the context has already are given anew."""
        ids = taken() if self._calls else set()
        return [block for part in self._parts if (block := _block(part, ids)) is not None]

    def partial_blocks(self) -> list[Block]:
        """What may be kept of a stream that broke off: a call cut short is no call."""
        return [
            block
            for part in self._parts
            if part.kind != "call" and (block := _block(part, set())) is not None
        ]


def _note(part: _Part, metadata: Mapping[str, Any] | None) -> None:
    if metadata:
        _check_written(metadata)
        part.metadata.update(metadata)


def _check_written(metadata: Mapping[str, Any]) -> None:
    """Here what cannot be stored is the model's error; at the commit it would be the run's."""
    try:
        codec.dumps(dict(metadata), levels=ARGUMENT_LEVELS)
    except InvalidInput as error:
        detail = f"The model's answer cannot be stored: {error.detail}"
        raise ModelError(detail, retryable=False) from error


def _block(part: _Part, taken: set[str]) -> Block | None:
    if part.kind == "text":
        return TextBlock.make(part.text) if part.pieces else None
    if part.kind == "thinking":
        return _thinking(part)
    if not part.name:
        return None
    return _call(part, taken)


def _thinking(part: _Part) -> Block | None:
    if not part.pieces and not part.metadata:
        return None
    return ThinkingBlock.make(part.text, part.metadata or None)


def _call(part: _Part, taken: set[str]) -> ToolUseBlock:
    call_id = part.id if part.id and part.id not in taken else f"call_{new_hex()}"
    taken.add(call_id)
    arguments = _arguments(part.text)
    return ToolUseBlock.make(
        id=call_id,
        name=part.name,
        input=arguments or {},
        content=part.text if arguments is None else None,
        metadata=part.metadata,
    )


def _arguments(text: str) -> dict[str, Any] | None:
    """The arguments, or None when the text is not a JSON object: it is then kept as it came."""
    if not text.strip():
        return {}
    try:
        value = codec.loads(text, levels=ARGUMENT_LEVELS)
    except (DecodeError, TooDeep):
        return None
    return value if isinstance(value, dict) else None
