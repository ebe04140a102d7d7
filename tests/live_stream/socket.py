"""A client of the real ASGI application's sockets."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import unquote

from asgiref.testing import ApplicationCommunicator

from agentadmin.asgi import application

SECONDS = 5.0


class Socket:
    """Opens a path and reads frames; what it has seen stays in `events`."""

    def __init__(self, path: str, headers: dict[str, str]) -> None:
        self._path, _, self._query = path.partition("?")
        self._headers = headers
        self._wire: Any = None
        self.accepted = False
        self.closed: int | None = None
        self.events: list[dict[str, Any]] = []
        self.cursor = ""

    async def open(self) -> None:
        """Shake hands; `accepted` says how that went."""
        scope = {
            "type": "websocket",
            "path": unquote(self._path),
            "raw_path": self._path.encode(),
            "query_string": self._query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in self._headers.items()],
            "subprotocols": [],
            "client": ("127.0.0.1", 5000),
        }
        self._wire = ApplicationCommunicator(application, scope)
        await self._wire.send_input({"type": "websocket.connect"})
        answer = await self._wire.receive_output(timeout=SECONDS)
        self.accepted = answer["type"] == "websocket.accept"
        self.closed = None if self.accepted else answer.get("code", 1000)

    async def frame(self) -> dict[str, Any]:
        """The next frame; a closed socket gives `{"type": "closed", …}`."""
        message = await self._wire.receive_output(timeout=SECONDS)
        if message["type"] == "websocket.close":
            self.closed = message["code"]
            return {"type": "closed", "code": self.closed}
        frame: dict[str, Any] = json.loads(message["text"])
        if frame["type"] == "event":
            self.cursor = frame["cursor"]
            self.events.append(frame["event"])
        else:
            assert "cursor" not in frame
        return frame

    async def until(self, type_: str) -> dict[str, Any]:
        """Read on to the first frame of this type."""
        while (frame := await self.frame())["type"] != type_:
            assert frame["type"] != "closed", frame
        return frame

    async def until_fact(self, seq: int) -> dict[str, Any]:
        """Read on to a fact."""
        while True:
            event: dict[str, Any] = (await self.until("event"))["event"]
            if event.get("seq") == seq:
                return event

    async def until_closed(self) -> int:
        """Read on to the end; the close code."""
        async with asyncio.timeout(SECONDS):
            while (await self.frame())["type"] != "closed":
                pass
        assert self.closed is not None
        return self.closed

    async def say(self, frame: Any) -> None:
        """Send a frame, or raw text."""
        text = frame if isinstance(frame, str) else json.dumps(frame)
        await self._wire.send_input({"type": "websocket.receive", "text": text})

    async def say_bytes(self, data: bytes) -> None:
        """Send a binary frame."""
        await self._wire.send_input({"type": "websocket.receive", "bytes": data})

    async def leave(self) -> None:
        """Go away."""
        if not self._wire.future.done():
            await self._wire.send_input({"type": "websocket.disconnect", "code": 1000})
            await self._wire.wait(timeout=SECONDS)

    @property
    def facts(self) -> list[int]:
        """The seqs of the facts seen."""
        return [event["seq"] for event in self.events if "seq" in event]
