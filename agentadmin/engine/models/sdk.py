"""SdkModel: a provider's official SDK as a ChatModel; what differs is the request and its reader.

The SDKs' own retries are off: ours see the whole run, can be interrupted, and never repeat an
answer of which something was shown. Answers are read as plain objects, since half of the servers
that speak these protocols send what the SDKs' types do not allow.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import httpx2

from agentadmin.engine.models import failures
from agentadmin.engine.models.base import Chunk, ChunkStream, ModelRequest, RetryPolicy
from agentadmin.engine.models.failures import Place
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.wire import http_client, patiently

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from agentadmin.engine.errors import ModelError
    from agentadmin.engine.models.providers import Provider

SDK_RETRIES = 0


class Reader(Protocol):
    """Understands one answer, event by event."""

    def feed(self, event: dict[str, Any]) -> Iterator[Chunk]:
        """What an event adds."""

    def finish(self) -> Iterator[Chunk]:
        """What is left at the end. Raises ModelError when the answer is not whole."""


class EventStream(Protocol):
    """What both SDKs give for a stream of objects."""

    def __aiter__(self) -> AsyncIterator[object]: ...

    async def close(self) -> None: ...


class SdkModel(ABC):
    """Holds no key and no connection; safe to use from every event loop."""

    provider: ClassVar[Provider]
    status_error: ClassVar[type[Exception]]
    api_error: ClassVar[type[Exception]]
    connection_error: ClassVar[type[Exception]]

    def __init__(
        self,
        model: str,
        options: ModelOptions | None = None,
        *,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.model = model
        self.name = f"{self.provider.name}:{model}"
        self.options = options or ModelOptions()
        self.retry = retry or RetryPolicy()
        self.context_window = self.provider.context_window(self.options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    @property
    def is_official(self) -> bool:
        """Whether the provider itself answers, not somebody who speaks like it."""
        return self.address == self.provider.official

    @property
    def address(self) -> str:
        """The base URL that is asked."""
        return self.provider.address(self.options)

    @abstractmethod
    async def _open(
        self, http: httpx2.AsyncClient, request: ModelRequest, key: str | None
    ) -> EventStream:
        """Send the request."""

    @abstractmethod
    def _reader(self, place: Place) -> Reader:
        """What reads one answer."""

    def _place(self) -> Place:
        options, env = self.options, self.provider.key_env
        key, key_name = options.key(env), options.key_name(env)
        return Place(self.provider.name, self.model, self.address, key_name, key)

    async def stream(self, request: ModelRequest) -> ChunkStream:
        """The answer, piece by piece; the connection is closed however it ends."""
        place = self._place()
        if place.key is None and (self.is_official or self.options.api_key_env):
            raise failures.no_key(place)
        idle = self.options.timeout
        reader = self._reader(place)
        async with http_client(idle) as http:
            events = await self._opened(http, request, place)
            try:
                async with aclosing(patiently(aiter(events), idle, place)) as patient:
                    async for event in patient:
                        for chunk in reader.feed(event):
                            yield chunk
            except (self.api_error, httpx2.HTTPError) as error:
                raise self._failure(place, error) from None
            finally:
                await events.close()
        for chunk in reader.finish():
            yield chunk

    async def _opened(
        self, http: httpx2.AsyncClient, request: ModelRequest, place: Place
    ) -> EventStream:
        """The stream once the server has begun to answer, within the patience for silence."""
        idle = self.options.timeout
        try:
            async with asyncio.timeout(idle):
                return await self._open(http, request, place.key)
        except TimeoutError:
            raise failures.silent(place, idle) from None
        except (self.api_error, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._failure(place, error) from None

    def _failure(self, place: Place, error: Any) -> ModelError:
        """A failure of the SDK in our words; its own would hold the request with its key."""
        if isinstance(error, self.status_error):
            status: int = error.status_code  # type: ignore[attr-defined]
            if status >= 300:
                headers = error.response.headers  # type: ignore[attr-defined]
                return failures.of_status(place, status, headers, _body(error))
            return failures.of_stream(place, _body(error))
        if isinstance(error, self.api_error) and not isinstance(error, self.connection_error):
            return failures.of_stream(place, _body(error))
        if any(isinstance(cause, httpx2.TimeoutException) for cause in failures.causes(error)):
            return failures.silent(place, self.options.timeout)
        return failures.of_connection(place, error)

    async def close(self) -> None:  # noqa: B027 - part of the port, and nothing to do here
        """Nothing is held between requests."""


def _body(error: Any) -> Any:
    """The body of an error; the SDK's own words where it could not be read as JSON."""
    return error.body if error.body is not None else error.message
