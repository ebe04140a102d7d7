"""The providers that come with the engine: all that can be known without loading their SDKs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agentadmin.engine.models.base import ChatModel, ChunkStream, ModelRequest, RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentadmin.engine.models.options import ModelOptions


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider is, how its settings are called, and where its model is made."""

    name: str
    factory: str
    official: str
    base_env: str
    key_env: str
    window: int
    """What every model that the provider itself serves today takes at least."""
    suffix: str = ""
    """What people add to the base URL and the SDK adds again."""

    def address(self, options: ModelOptions) -> str:
        """The base URL that is asked."""
        own = options.base_url or os.environ.get(self.base_env) or self.official
        return own.rstrip("/").removesuffix(self.suffix)

    def context_window(self, options: ModelOptions) -> int:
        """The definition's number, else the provider's own; 0 of a server that nobody knows."""
        known = self.window if self.address(options) == self.official else 0
        return options.context_window or known


OPENAI = Provider(
    name="openai",
    factory="agentadmin.engine.models.openai:create",
    official="https://api.openai.com/v1",
    base_env="OPENAI_BASE_URL",
    key_env="OPENAI_API_KEY",
    window=128_000,
)
ANTHROPIC = Provider(
    name="anthropic",
    factory="agentadmin.engine.models.anthropic:create",
    official="https://api.anthropic.com",
    base_env="ANTHROPIC_BASE_URL",
    key_env="ANTHROPIC_API_KEY",
    window=200_000,
    suffix="/v1",
)
PROVIDERS = {provider.name: provider for provider in (OPENAI, ANTHROPIC)}


class LazyModel:
    """A model whose SDK, tens of megabytes, is loaded with the first request and not before.

    Web processes build agents to know their tools and windows; they never send a request.
    """

    def __init__(
        self,
        provider: Provider,
        model: str,
        options: ModelOptions,
        load: Callable[[], ChatModel],
    ) -> None:
        self.name = f"{provider.name}:{model}"
        self.context_window = provider.context_window(options)
        self.retry = RetryPolicy()
        self.options = options
        self._load = load

    def __repr__(self) -> str:
        return f"LazyModel({self.name})"

    @cached_property
    def loaded(self) -> ChatModel:
        """The model itself."""
        return self._load()

    def stream(self, request: ModelRequest) -> ChunkStream:
        """The answer, piece by piece."""
        return self.loaded.stream(request)

    async def close(self) -> None:
        """Nothing is held between requests."""
