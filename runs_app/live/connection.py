"""What every live socket shares: accept first, serve frames, say why it ends (contract §3)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from channels.generic.websocket import AsyncWebsocketConsumer

from agentadmin.engine.errors import AgentAdminError, InvalidInput
from agentadmin.engine.state import codec
from runs_app.live.closing import CloseCode, Closing, close_code
from runs_app.live.frames import EventFrame, Frame, closing_frame, error_frame
from runs_app.live.timing import timing
from runs_app.live.watching import open_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

log = logging.getLogger(__name__)

MAX_MESSAGE = 16 * 1024
"""Longer than anything that a client has to say."""


class LiveConnection(AsyncWebsocketConsumer):
    """A socket whose frames come from `frames`; it runs until either side closes."""

    _serving: asyncio.Task[None] | None = None
    _types: frozenset[str] | None = None
    _ended = False

    def frames(self) -> AsyncGenerator[Frame]:
        """The frames to send; errors of our tree and Closing end the connection in order."""
        raise NotImplementedError

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve, and leave nothing running whatever ends the connection."""
        try:
            with open_stream():
                await super().__call__(scope, receive, send)
        finally:
            if self._serving is not None:
                self._serving.cancel()
                with suppress(asyncio.CancelledError):
                    await self._serving

    async def connect(self) -> None:
        """A socket is always accepted first, so that it can be told why it is closed."""
        await self.accept()
        self._serving = asyncio.create_task(self._serve())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Answer what the client says; nothing that it can say ends the connection."""
        try:
            self.hear(_message(text_data))
        except AgentAdminError as error:
            with suppress(Closing):
                await self._send(error_frame(error))

    def hear(self, message: dict[str, Any]) -> None:
        """Act on a client's frame. Raises InvalidInput."""
        if message.get("type") != "filter":
            raise InvalidInput("There is no such frame here.", path="type")
        types = message.get("types")
        if types is not None and not (
            isinstance(types, list) and all(isinstance(each, str) for each in types)
        ):
            raise InvalidInput("A list of event types, or null for all of them.", path="types")
        self._types = None if types is None else frozenset(types)

    async def _serve(self) -> None:
        try:
            async with aclosing(self.frames()) as frames:
                async for frame in frames:
                    if self._wants(frame):
                        await self._send(frame)
        except AgentAdminError as error:
            await self._end(error_frame(error), close_code(error))
        except Closing as closing:
            await self._end(closing_frame(closing), closing.code)
        except Exception:
            log.exception("live: a connection failed")
            failed = Closing(CloseCode.INTERNAL, "internal_error")
            await self._end(closing_frame(failed), failed.code)

    def _wants(self, frame: Frame) -> bool:
        return self._types is None or not isinstance(frame, EventFrame) or frame.type in self._types

    async def _send(self, frame: Frame) -> None:
        if self._ended:
            return
        try:
            async with asyncio.timeout(timing.send):
                await self.send(frame.socket())
        except TimeoutError:
            raise Closing(CloseCode.SLOW, "slow_consumer") from None

    async def _end(self, frame: Frame, code: CloseCode) -> None:
        """Say why and close; a client that takes nothing any more is dropped unheard."""
        with suppress(Closing, TimeoutError):
            await self._send(frame)
            self._ended = True
            async with asyncio.timeout(timing.send):
                await self.close(int(code))


def _message(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > MAX_MESSAGE:
        raise InvalidInput(f"A frame is JSON text of at most {MAX_MESSAGE} characters.")
    message = codec.loads(text)
    if not isinstance(message, dict):
        raise InvalidInput("A frame is a JSON object.")
    return message
