"""The offline model `offline:demo` (contract §4): deterministic, no key, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentadmin.engine.errors import DecodeError, ModelError
from agentadmin.engine.messages import Msg, Role, ToolResultBlock
from agentadmin.engine.models.base import (
    Chunk,
    ChunkStream,
    ModelRequest,
    Purpose,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.state import codec

MAX_SLOW_WORDS = 100_000
MAX_REPLY = 5_000_000
MAX_PAUSE_MS = 60_000
RESULT_CHARS = 200
CHUNK = 4096


class OfflineModel:
    """Reads the last user message and does what it says; a message may be a `/command`."""

    def __init__(self, name: str = "offline:demo", context_window: int = 128_000) -> None:
        self.name = name
        self.context_window = context_window
        self.retry = RetryPolicy(retries=8, first=0.01, factor=2.0, longest=0.2)

    async def stream(self, request: ModelRequest) -> ChunkStream:
        """The answer to the request, then its usage."""
        written = 0
        async for chunk in _answer(request):
            written += _size(chunk)
            yield chunk
        read = sum(_message_chars(message) for message in request.messages)
        yield UsageChunk(_tokens(read), _tokens(written))

    async def close(self) -> None:
        """Nothing is held."""


def _tokens(chars: int) -> int:
    return -(-chars // 4)


def _size(chunk: Chunk) -> int:
    if isinstance(chunk, TextChunk | ThinkingChunk):
        return len(chunk.text)
    return len(chunk.name) + len(chunk.arguments) if isinstance(chunk, ToolCallChunk) else 0


def _message_chars(message: Msg) -> int:
    """Characters that were read; raw blocks, as this runs over the whole context each time."""
    total = 0
    for raw in message.raw.get("content") or ():
        if raw is None:
            continue
        if "text" in raw:
            total += len(raw["text"] or "")
        elif raw.get("type") == "tool_use":
            total += len(raw.get("name") or "") + len(codec.dumps(raw.get("input")))
        elif raw.get("type") == "tool_result":
            total += sum(len(part.get("text") or "") for part in raw.get("output") or ())
    return total


def _result_text(block: ToolResultBlock) -> str:
    return block.text


def _synthetic(message: Msg) -> bool:
    metadata = message.raw.get("metadata") or {}
    return metadata.get("agentscope_synthetic") is True


def _real(messages: Iterable[Msg]) -> Iterator[Msg]:
    """What people, the model and tools said; lazy, as most answers need only the end."""
    return (m for m in messages if m.role != Role.SYSTEM and not _synthetic(m))


def _answer(request: ModelRequest) -> ChunkStream:
    if request.purpose is Purpose.SUMMARY:
        return _text(f"Summary of {_number_of(request)} messages.")
    if results := _last_results(_real(reversed(request.messages))):
        return _text(_report(results))
    newest = _real(reversed(request.messages))
    prompt = next((m.text for m in newest if m.role == Role.USER), "")
    word, _, rest = prompt.partition(" ")
    command = _COMMANDS.get(word)
    return command(rest, request) if command else _text(f"You said: {prompt}")


async def _text(text: str) -> ChunkStream:
    for start in range(0, len(text), CHUNK):
        yield TextChunk(text[start : start + CHUNK])


def _number_of(request: ModelRequest) -> int:
    return sum(1 for _ in _real(request.messages))


def _last_results(newest_first: Iterable[Msg]) -> list[ToolResultBlock]:
    """The results that nobody has commented yet; a reply cut off by a crash does not count."""
    blocks: list[ToolResultBlock] = []
    for message in newest_first:
        if message.role == Role.ASSISTANT and not blocks:
            continue
        if message.role != Role.TOOL:
            break
        blocks[:0] = [b for b in message.content if isinstance(b, ToolResultBlock)]
    return blocks


def _report(results: Sequence[ToolResultBlock]) -> str:
    return "\n".join(
        f"{block.name} returned: {_result_text(block)[:RESULT_CHARS]}" for block in results
    )


def _echo(rest: str, _request: ModelRequest) -> ChunkStream:
    return _text(rest)


def _count(_rest: str, request: ModelRequest) -> ChunkStream:
    return _text(f"{_number_of(request)} messages")


def _recall(_rest: str, request: ModelRequest) -> ChunkStream:
    oldest = _real(request.messages)
    return _text(next((m.text for m in oldest if m.role == Role.USER), ""))


def _number(text: str, fallback: int, largest: int) -> int:
    return min(int(text), largest) if text.isascii() and text.isdigit() else fallback


async def _slow(rest: str, _request: ModelRequest) -> ChunkStream:
    words = rest.split()
    count = _number(words[0], 1, MAX_SLOW_WORDS) if words else 1
    pause = _number(words[1], 50, MAX_PAUSE_MS) if len(words) > 1 else 50
    for index in range(1, count + 1):
        await asyncio.sleep(pause / 1000)
        yield TextChunk(f"word-{index}" if index == 1 else f" word-{index}")


def _call_id(request: ModelRequest, index: int) -> str:
    """Unique in its conversation and the same every time it is replayed."""
    newest = next(_real(reversed(request.messages)))
    return f"call_{_number_of(request)}_{index}_{(newest.id or '')[-8:]}"


def _tool(rest: str, request: ModelRequest) -> ChunkStream:
    name, _, arguments = rest.partition(" ")
    return _calls([(name, arguments.strip() or "{}")], request)


async def _calls(calls: Sequence[tuple[str, str]], request: ModelRequest) -> ChunkStream:
    for index, (name, arguments) in enumerate(calls):
        yield ToolCallChunk(str(index), _call_id(request, index), name, arguments)


def _tools(rest: str, request: ModelRequest) -> ChunkStream:
    try:
        calls = [_listed_call(entry) for entry in _list(codec.loads(rest))]
    except (DecodeError, KeyError, TypeError, AttributeError):
        return _text(f"You said: /tools {rest}")
    return _calls(calls, request)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _listed_call(entry: dict[str, Any]) -> tuple[str, str]:
    return str(entry["name"]), codec.dumps(entry.get("input", {}))


async def _think(rest: str, _request: ModelRequest) -> ChunkStream:
    yield ThinkingChunk(f"Thinking about: {rest}")
    yield TextChunk(rest)


async def _fail(rest: str, request: ModelRequest) -> ChunkStream:
    kind, _, count = rest.partition(" ")
    if kind == "permanent":
        raise ModelError("The offline model was told to fail.", retryable=False)
    times = _number(count.strip(), 1, 1_000)
    if request.attempt < times:
        raise ModelError(f"Transient failure {request.attempt + 1} of {times}.", retryable=True)
    yield TextChunk(f"ok after {times} retries")


async def _empty(_rest: str, _request: ModelRequest) -> ChunkStream:
    nothing: tuple[TextChunk, ...] = ()
    for chunk in nothing:
        yield chunk


def _big(rest: str, _request: ModelRequest) -> ChunkStream:
    count = _number(rest.strip(), 0, MAX_REPLY)
    return _text(("0123456789" * (count // 10 + 1))[:count])


type Command = Callable[[str, ModelRequest], ChunkStream]

_COMMANDS: dict[str, Command] = {
    "/echo": _echo,
    "/count": _count,
    "/recall": _recall,
    "/slow": _slow,
    "/tool": _tool,
    "/tools": _tools,
    "/think": _think,
    "/fail": _fail,
    "/empty": _empty,
    "/big": _big,
}
