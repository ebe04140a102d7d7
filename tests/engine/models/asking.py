"""Asking a model on a loopback server, as the engine asks it."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.assembler import Assembler
from agentadmin.engine.agents.emitter import Step
from agentadmin.engine.messages import user_message
from agentadmin.engine.models.base import (
    Chunk,
    ModelRequest,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
    UsageChunk,
)
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.registry import create

if TYPE_CHECKING:
    from agentadmin.engine.messages import Block, Msg
    from agentadmin.engine.models.providers import LazyModel

KEY = "sk-very-secret-0123456789"
KEY_ENV = "LOOPBACK_API_KEY"
QUICK = RetryPolicy(retries=3, first=0.01, longest=0.02)


def model(url: str, provider: str = "openai", **options: Any) -> LazyModel:
    """A model of the loopback server, with a key."""
    base = f"{url}/v1" if provider == "openai" else url
    given = {"base_url": base, "api_key_env": KEY_ENV, "timeout": 5.0, **options}
    made: Any = create(f"{provider}:test-model", ModelOptions.read(given))
    made.retry = QUICK
    return made


async def chunks(asked: LazyModel, *messages: Msg, **more: Any) -> list[Chunk]:
    """Everything the model says."""
    request = ModelRequest(list(messages) or [user_message("hi")], **more)
    async with aclosing(asked.stream(request)) as stream:
        return [chunk async for chunk in stream]


def text(found: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in found if isinstance(chunk, TextChunk))


def thoughts(found: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in found if isinstance(chunk, ThinkingChunk))


def usage(found: list[Chunk]) -> UsageChunk | None:
    return next((chunk for chunk in found if isinstance(chunk, UsageChunk)), None)


def blocks(found: list[Chunk]) -> list[Block]:
    """The chunks as the blocks that a message keeps."""
    assembler = Assembler(lambda *_, **__: None, Step("r", 1), "m")  # type: ignore[arg-type]
    for chunk in found:
        assembler.feed(chunk)
    return assembler.blocks(set)
