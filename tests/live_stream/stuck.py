"""A client that stops taking frames: what the transport cannot send, it makes the server wait."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agentadmin.asgi import application
from tests.live_stream.waiting import until


class StuckClient:
    """Takes so many frames, then none until `thaw`."""

    def __init__(self, path: str, cookie: str, *, takes: int) -> None:
        path, _, query = path.partition("?")
        self._scope = {
            "type": "websocket",
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"cookie", cookie.encode())],
            "subprotocols": [],
            "client": ("127.0.0.1", 5000),
        }
        self._takes = takes
        self._open = asyncio.Event()
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.frames: list[dict[str, Any]] = []
        self.closed: int | None = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the socket."""
        await self._said.put({"type": "websocket.connect"})
        self._running = asyncio.create_task(
            application(self._scope, self._said.get, self._take)  # type: ignore[arg-type]
        )

    async def _take(self, message: dict[str, Any]) -> None:
        if len(self.frames) >= self._takes:
            await self._open.wait()
        if message["type"] == "websocket.send":
            self.frames.append(json.loads(message["text"]))
        elif message["type"] == "websocket.close":
            self.closed = message["code"]

    def thaw(self) -> None:
        """Take everything from now on."""
        self._open.set()

    async def until_closed(self) -> int:
        """Wait for the server to close; the code."""
        await until(lambda: self.closed is not None)
        assert self.closed is not None
        return self.closed

    async def leave(self) -> None:
        """Go away."""
        self.thaw()
        await self._said.put({"type": "websocket.disconnect", "code": 1006})
        assert self._running is not None
        await asyncio.wait_for(self._running, 10)

    @property
    def cursor(self) -> str:
        """The last cursor taken."""
        return next(str(f["cursor"]) for f in reversed(self.frames) if f["type"] == "event")

    @property
    def facts(self) -> list[int]:
        """The facts taken."""
        return [f["event"]["seq"] for f in self.frames if f["type"] == "event"]
