"""People, sockets and quick periods for the live tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from runs_app.live.timing import Timing, timing
from tests.live_stream.socket import Socket

type Connect = Callable[..., Awaitable[Socket]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Timing:
    """Periods that a test can wait for."""
    monkeypatch.setattr(timing, "tick", 0.2)
    monkeypatch.setattr(timing, "recheck", 0.2)
    monkeypatch.setattr(timing, "grace", 0.05)
    monkeypatch.setattr(timing, "retry", 0.05)
    return timing


@pytest.fixture(autouse=True)
def _empty_redis(redis_client: Any) -> None:
    """Every test begins with no stream."""


def sign_in(name: str, role: str = "viewer", **scope: str) -> str:
    """A new user's session, as a Cookie header."""
    user = create_user(
        actor=Actor.system("tests"), name=name, password="correct horse", role=role, **scope
    )
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}"


@pytest.fixture
async def cookie(transactional_db: None) -> str:
    """A viewer's session."""
    made: str = await sync_to_async(sign_in)("viewer")
    return made


@pytest.fixture
async def connect(cookie: str) -> AsyncIterator[Connect]:
    """Open sockets as the viewer, or with other headers."""
    opened: list[Socket] = []

    async def open_socket(path: str, **headers: str) -> Socket:
        socket = Socket(path, {"cookie": cookie, **headers})
        opened.append(socket)
        await socket.open()
        return socket

    yield open_socket
    for socket in opened:
        await socket.leave()
