"""A client of the real ASGI application's event streams."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from asgiref.testing import ApplicationCommunicator

from agentadmin.asgi import application

SECONDS = 5.0


class EventSource:
    """Opens an event stream and reads it as a browser does: id, event, data."""

    def __init__(self, path: str, headers: dict[str, str]) -> None:
        self._path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "server": ("testserver", 80),
            "client": ("127.0.0.1", 5000),
            "path": self._path,
            "query_string": query.encode(),
            "headers": [(b"host", b"testserver")]
            + [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        self._wire = ApplicationCommunicator(application, scope)
        self._buffer = ""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.last_id = ""

    async def open(self) -> None:
        """Send the request and read the answer's head."""
        await self._wire.send_input({"type": "http.request", "body": b"", "more_body": False})
        start = await self._wire.receive_output(timeout=SECONDS)
        self.status = start["status"]
        self.headers = {k.decode().lower(): v.decode() for k, v in start["headers"]}

    async def body(self) -> Any:
        """The whole answer, of one that ends."""
        message = await self._wire.receive_output(timeout=SECONDS)
        return json.loads(message["body"])

    async def event(self) -> tuple[str, str, Any]:
        """The next event: its id or "", its name, its data."""
        while True:
            while "\n\n" not in self._buffer:
                message = await self._wire.receive_output(timeout=SECONDS)
                self._buffer += message.get("body", b"").decode()
                if not message.get("more_body") and "\n\n" not in self._buffer:
                    return "", "end", None
            block, _, self._buffer = self._buffer.partition("\n\n")
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            if "data" not in fields:
                continue
            self.last_id = fields.get("id", self.last_id)
            name = fields.get("event", "message")
            return fields.get("id", ""), name, json.loads(fields["data"])

    async def until_fact(self, seq: int) -> list[Any]:
        """Read on to a fact; every event on the way."""
        seen: list[Any] = []
        async with asyncio.timeout(SECONDS):
            while not seen or seen[-1].get("seq") != seq:
                id_, name, data = await self.event()
                assert name != "end"
                if name == "message":
                    assert id_
                    seen.append(data)
        return seen

    async def leave(self) -> None:
        """Go away."""
        if not self._wire.future.done():
            await self._wire.send_input({"type": "http.disconnect"})
            await self._wire.wait(timeout=SECONDS)
