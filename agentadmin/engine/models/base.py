"""The ChatModel port: messages and tool schemas in, a stream of chunks out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentadmin.engine.messages import Msg


class Purpose(StrEnum):
    """What a request is for; a summary request carries no tools."""

    REASONING = "reasoning"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how soon a retryable failure is tried again, before anything was streamed."""

    retries: int = 3
    first: float = 2.0
    factor: float = 2.0
    longest: float = 30.0
    patience: float = 120.0
    """A provider that wants to be left alone for longer than this is not waited for."""

    def delay(self, attempt: int, retry_after: float | None = None) -> float:
        """Seconds to wait after the failed attempt (0 is the first), never sooner than asked."""
        return max(min(self.first * self.factor**attempt, self.longest), retry_after or 0.0)

    def allows(self, attempt: int, retry_after: float | None = None) -> bool:
        """Whether the failed attempt is followed by another one."""
        return attempt < self.retries and (retry_after or 0.0) <= self.patience


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request as it leaves; `attempt` counts retries of the same request from 0."""

    messages: Sequence[Msg]
    tools: Sequence[Mapping[str, Any]] = ()
    purpose: Purpose = Purpose.REASONING
    options: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    """A piece of thinking; signatures and the like travel in `metadata`.

    Another `key` is another block: a provider wants each back as it was signed.
    """

    text: str
    metadata: Mapping[str, Any] | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A piece of a tool call: `key` tells parallel calls apart, `arguments` is JSON text.

    `metadata` is what the provider wants back with the call.
    """

    key: str
    id: str = ""
    name: str = ""
    arguments: str = ""
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class UsageChunk:
    """Tokens that the provider counted for the whole call."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


type Chunk = TextChunk | ThinkingChunk | ToolCallChunk | UsageChunk
type ChunkStream = AsyncGenerator[Chunk, None]


class ChatModel(Protocol):
    """A language model; `context_window` 0 means that its size is unknown."""

    @property
    def name(self) -> str: ...

    @property
    def context_window(self) -> int: ...

    @property
    def retry(self) -> RetryPolicy: ...

    def stream(self, request: ModelRequest) -> ChunkStream:
        """The answer, piece by piece. Raises ModelError; retryable only before the first chunk."""

    async def close(self) -> None:
        """Give back connections; the model is not used afterwards."""
