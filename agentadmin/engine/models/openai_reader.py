"""Reading chat completion chunks, also of servers that take their protocol lightly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import ModelError
from agentadmin.engine.models import failures
from agentadmin.engine.models.base import (
    Chunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.models.openai_messages import EXTRA_CONTENT
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.models.failures import Place

_THINKING = ("reasoning_content", "reasoning")


class OpenAIReader:
    """Only the first choice is read: one is asked for."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._calls = CallKeys()
        self._finish: str | None = None
        self._usage: UsageChunk | None = None
        self._spoke = False

    def feed(self, event: dict[str, Any]) -> Iterator[Chunk]:
        """What a chunk adds."""
        self._usage = _usage(event.get("usage")) or self._usage
        choice = _first(event.get("choices"))
        # A server that does not stream sends the whole message at once.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            for chunk in self._delta(delta):
                self._spoke = self._spoke or not isinstance(chunk, ThinkingChunk)
                yield chunk
        finish = choice.get("finish_reason")
        self._finish = finish if isinstance(finish, str) else self._finish

    def _delta(self, delta: dict[str, Any]) -> Iterator[Chunk]:
        thought = next((t for name in _THINKING if (t := _plain(delta.get(name)))), "")
        if thought:
            yield ThinkingChunk(thought)
        yield from _content(delta.get("content"))
        if refusal := _plain(delta.get("refusal")):
            yield TextChunk(refusal)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield self._calls.chunk(call)

    def finish(self) -> Iterator[Chunk]:
        """The usage. Raises ModelError for an answer that broke off or was withheld."""
        if self._finish is None:
            raise failures.cut_off(self._place)
        if self._finish == "content_filter" and not self._spoke:
            detail = f"{self._place.who} withheld its answer: its content filter took it."
            raise ModelError(detail, retryable=False)
        if self._finish == "length" and not self._spoke:
            raise failures.spent(self._place)
        if self._usage is not None:
            yield self._usage


class CallKeys:
    """Tells parallel calls apart by index, id or name: whichever the server cares to send."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._current: dict[int, str] = {}
        self._last = ""

    def chunk(self, call: dict[str, Any]) -> ToolCallChunk:
        """The piece of a call with the key of its call."""
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        id_, name = _plain(call.get("id")), _plain(function.get("name"))
        index = call.get("index")
        key = self._key(index if isinstance(index, int) else None, id_, name)
        extra = call.get(EXTRA_CONTENT)
        metadata = {EXTRA_CONTENT: extra} if isinstance(extra, dict) and extra else None
        return ToolCallChunk(key, id_, name, _arguments(function.get("arguments")), metadata)

    def _key(self, index: int | None, id_: str, name: str) -> str:
        known = self._last if index is None else self._current.get(index, "")
        if not known or self._begins(known, index, id_, name):
            known = str(len(self._ids))
            self._ids[known] = id_
        self._ids[known] = self._ids[known] or id_
        self._last = known
        if index is not None:
            self._current[index] = known
        return known

    def _begins(self, known: str, index: int | None, id_: str, name: str) -> bool:
        """Some servers give every call the index 0, some none, and some no id."""
        if id_:
            return bool(self._ids[known]) and id_ != self._ids[known] and bool(name)
        return index is None and bool(name)


def _content(content: Any) -> Iterator[Chunk]:
    """Text, or as some servers have it, a list of parts."""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "thinking":
            if thought := _joined(part.get("thinking")):
                yield ThinkingChunk(thought)
        elif text := _plain(part.get("text") if isinstance(part, dict) else part):
            yield TextChunk(text)


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_plain(p.get("text") if isinstance(p, dict) else p) for p in value)
    return _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    """JSON text; a server that sends the object itself means its text."""
    return codec.dumps(value) if isinstance(value, dict) else _plain(value)


def _first(choices: Any) -> dict[str, Any]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _usage(given: Any) -> UsageChunk | None:
    if not isinstance(given, dict):
        return None
    details = given.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return UsageChunk(
        count(given.get("prompt_tokens")),
        count(given.get("completion_tokens")),
        count(cached if cached is not None else given.get("prompt_cache_hit_tokens")),
    )


def count(value: Any) -> int:
    """A number of tokens; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
