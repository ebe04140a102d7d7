"""Anthropic's messages, and every server that speaks them: `anthropic:<model>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic

from agentadmin.engine.models.anthropic_messages import wire_messages, wire_tools
from agentadmin.engine.models.anthropic_reader import AnthropicReader
from agentadmin.engine.models.base import ModelRequest, Purpose
from agentadmin.engine.models.providers import ANTHROPIC
from agentadmin.engine.models.sdk import SDK_RETRIES, SdkModel

if TYPE_CHECKING:
    import httpx2

    from agentadmin.engine.models.failures import Place
    from agentadmin.engine.models.options import ModelOptions
    from agentadmin.engine.models.sdk import EventStream

MAX_TOKENS = 8192
"""The protocol demands a limit; this one every model of today allows."""
NO_KEY = "none"
CACHE = {"type": "ephemeral"}


class AnthropicModel(SdkModel):
    """Messages, streamed."""

    provider = ANTHROPIC
    status_error = anthropic.APIStatusError
    api_error = anthropic.APIError
    connection_error = anthropic.APIConnectionError

    async def _open(
        self, http: httpx2.AsyncClient, request: ModelRequest, key: str | None
    ) -> EventStream:
        headers: dict[str, Any] = dict(self.options.headers)
        if key is None:
            headers |= {"X-Api-Key": anthropic.Omit(), "Authorization": anthropic.Omit()}
        elif not self.is_official:
            # The SDK has moved on to a bearer token; who speaks like Anthropic may not have.
            headers["X-Api-Key"] = key
        client = anthropic.AsyncAnthropic(
            api_key=key or NO_KEY,
            base_url=self.address,
            timeout=http.timeout,
            max_retries=SDK_RETRIES,
            http_client=http,
        )
        return await client.post(
            "/v1/messages",
            cast_to=object,
            body=self.body(request),
            options={"headers": headers},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )

    def _reader(self, place: Place) -> AnthropicReader:
        return AnthropicReader(place)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The request as it leaves; a null of the definition's body takes a field away."""
        system, messages = wire_messages(request.messages)
        tools = request.tools if request.purpose is Purpose.REASONING else ()
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.options.max_tokens or MAX_TOKENS,
            "system": system or None,
            "messages": messages,
            "tools": wire_tools(tools) or None,
            "stream": True,
            "temperature": self.options.temperature,
            # The prefix of a long run is paid for once.
            "cache_control": CACHE if self.is_official else None,
            **self.options.body,
        }
        return {name: value for name, value in body.items() if value is not None}


def create(model: str, options: ModelOptions | None = None) -> AnthropicModel:
    """The factory that the registry names."""
    return AnthropicModel(model, options)
