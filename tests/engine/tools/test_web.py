"""`http_get`: what is inside the network stays unread, however it is spelled."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.tools.builtin import http_get, web
from tests.engine.tools.test_builtin import run

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "ff02::1",
    ],
)
def test_private_addresses_are_known_in_every_disguise(address: str) -> None:
    assert not web.is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_pass(address: str) -> None:
    assert web.is_public(address)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1/", "private address"),
        ("http://localhost:1/", "private address"),
        ("http://[::1]/", "private address"),
        ("http://2130706433/", "private address"),
        ("http://0x7f.1/", "private address"),
        ("ftp://example.org/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("http:///nothing", "only http and https"),
        ("http://a:b@example.org/", "password"),
        ("http://example.org:0/", "port 0"),
        ("http://example.org:99999/", "no address"),
        ("not an address", "only http and https"),
    ],
)
async def test_other_addresses_are_refused(url: str, told: str) -> None:
    assert told in await run(http_get, url=url)


async def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(*_: Any, **__: Any) -> list[Any]:
        places = [("8.8.8.8", 80), ("10.0.0.1", 80)]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]

    monkeypatch.setattr(web.socket, "getaddrinfo", answers)
    assert "private address" in await run(http_get, url="http://example.org/")


class Site(BaseHTTPRequestHandler):
    """Answers as its path says."""

    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://10.0.0.1/secret")
            self.end_headers()
            return
        if self.path == "/round":
            self.send_response(302)
            self.send_header("Location", "/round")
            self.end_headers()
            return
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"x" * 2_000_000 if self.path == "/big" else "grüß dich".encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on loopback, which counts as public for the test."""
    server = HTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr(web, "is_public", lambda address: address == "127.0.0.1")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_page_is_read(site: str) -> None:
    assert await run(http_get, url=f"{site}/") == "200 OK\n\ngrüß dich"
    assert (await run(http_get, url=f"{site}/missing")).startswith("[ERROR] 404 Not Found")
    big = await run(http_get, url=f"{site}/big")
    assert len(big) < 201_000
    assert big.endswith("cut off here")
    assert "10.0.0.1 is a private address" in await run(http_get, url=f"{site}/away")
    assert "redirects" in await run(http_get, url=f"{site}/round")
