"""A loopback server that speaks, and misspeaks, the wire format of a model provider.

It writes bytes by hand: no framework would let it break off, stay silent or send half a chunk.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Request:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: Json


@dataclass
class Line:
    """The server's side of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, kind: str = "text/event-stream", **more: str) -> None:
        """Begin a chunked answer."""
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """A piece of the body."""
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """The proper end of a body."""
        await self.raw(b"0\r\n\r\n")

    async def gone(self) -> None:
        """Until the client has closed the connection."""
        while await self.reader.read(1024):
            pass


type Script = Callable[[Line, Request], Awaitable[None]]


@dataclass
class ModelServer:
    """Answers the n-th request by the n-th script, the last one ever after."""

    scripts: Sequence[Script]
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    hung_up: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; the client asks once on it."""
        try:
            request = await _read(reader)
            self.requests.append(request)
            script = self.scripts[min(len(self.requests), len(self.scripts)) - 1]
            await script(Line(reader, writer), request)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up += 1
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = [line.split(": ", 1) for line in head[1:] if line]
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(head[0].split(" ")[1], headers, json.loads(body or b"{}"))


@asynccontextmanager
async def serving(*scripts: Script) -> AsyncIterator[ModelServer]:
    """A server on the running loop."""
    server = ModelServer(scripts)
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        listening.close_clients()
        await listening.wait_closed()


@contextmanager
def serving_in_thread(*scripts: Script) -> Iterator[ModelServer]:
    """The same on a loop of its own, for runs that have theirs."""
    ready = threading.Event()
    found: list[ModelServer] = []
    end: list[Callable[[], object]] = []

    async def live() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        end.append(lambda: loop.call_soon_threadsafe(stop.set))
        async with serving(*scripts) as server:
            found.append(server)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(live()), name="model-server")
    thread.start()
    try:
        assert ready.wait(10)
        yield found[0]
    finally:
        end[0]()
        thread.join(10)


def status(code: int, body: Any, **headers: str) -> Script:
    """An answer that is an error."""

    async def script(line: Line, _request: Request) -> None:
        await line.head(code, "application/json", **headers)
        await line.chunk(body.encode() if isinstance(body, str) else json.dumps(body).encode())
        await line.end()

    return script


def events(*data: Any, done: bool = True) -> Script:
    """Server-sent events of an OpenAI-compatible server; text is sent as it is."""

    async def script(line: Line, _request: Request) -> None:
        await line.head()
        for entry in data:
            await line.chunk(sse(entry))
        if done:
            await line.chunk(b"data: [DONE]\n\n")
        await line.end()

    return script


def sse(entry: Any) -> bytes:
    """One event; a typed one has its type as its name."""
    text = entry if isinstance(entry, str) else json.dumps(entry)
    name = f"event: {entry['type']}\n" if isinstance(entry, dict) and "type" in entry else ""
    return f"{name}data: {text}\n\n".encode()


def delta(finish: str | None = None, **fields: Any) -> Json:
    """A chat completion chunk."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(index: int | None = None, **fields: Any) -> Json:
    """A chunk with a piece of a tool call; `name` and `arguments` go into the function."""
    function = {k: fields.pop(k) for k in ("name", "arguments") if k in fields}
    entry = {**fields, "function": function}
    return delta(tool_calls=[entry if index is None else {"index": index, **entry}])
