"""OpenAI, and every server that speaks its chat completions: `openai:<model>`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai

from agentadmin.engine.models.base import ModelRequest, Purpose
from agentadmin.engine.models.openai_messages import wire_messages, wire_tools
from agentadmin.engine.models.openai_reader import OpenAIReader
from agentadmin.engine.models.providers import OPENAI
from agentadmin.engine.models.sdk import SDK_RETRIES, SdkModel

if TYPE_CHECKING:
    import httpx2

    from agentadmin.engine.models.failures import Place
    from agentadmin.engine.models.options import ModelOptions
    from agentadmin.engine.models.sdk import EventStream

NO_KEY = "none"


class OpenAIModel(SdkModel):
    """Chat completions, streamed."""

    provider = OPENAI
    status_error = openai.APIStatusError
    api_error = openai.APIError
    connection_error = openai.APIConnectionError

    async def _open(
        self, http: httpx2.AsyncClient, request: ModelRequest, key: str | None
    ) -> EventStream:
        headers: dict[str, Any] = dict(self.options.headers)
        if key is None:
            headers["Authorization"] = openai.Omit()
        client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=self.address,
            timeout=http.timeout,
            max_retries=SDK_RETRIES,
            http_client=http,
        )
        return await client.post(
            "/chat/completions",
            cast_to=object,
            body=self.body(request),
            options={"headers": headers},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    def _reader(self, place: Place) -> OpenAIReader:
        return OpenAIReader(place)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The request as it leaves; a null of the definition's body takes a field away."""
        options = self.options
        limit = "max_completion_tokens" if self.is_official else "max_tokens"
        tools = request.tools if request.purpose is Purpose.REASONING else ()
        body: dict[str, Any] = {
            "model": self.model,
            "messages": wire_messages(request.messages),
            "tools": wire_tools(tools) or None,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": options.temperature,
            limit: options.max_tokens,
            **options.body,
        }
        return {name: value for name, value in body.items() if value is not None}


def create(model: str, options: ModelOptions | None = None) -> OpenAIModel:
    """The factory that the registry names."""
    return OpenAIModel(model, options)
