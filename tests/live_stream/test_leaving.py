"""Whoever may no longer watch stops watching: sockets and event streams, whatever the cause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from agentadmin.access.actor import Actor
from agentadmin.access.models import ApiToken
from agentadmin.access.services import create_user, renew_password, set_active, withdraw_role
from agentadmin.access.tokens import create_token, revoke_token
from agentadmin.engine.clock import now
from runs_app.live.timing import Timing
from tests.live_stream import journal
from tests.live_stream.http import EventSource

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadRef
    from tests.live_stream.conftest import Connect

pytestmark = pytest.mark.django_db(transaction=True)
SYSTEM = Actor.system("tests")
ENDS = {4401: "not_authenticated", 4403: "forbidden"}


def account() -> User:
    return User.objects.get(username="viewer")


def sign_out() -> None:
    Session.objects.all().delete()


def withdraw() -> None:
    withdraw_role(actor=SYSTEM, user=account(), role="viewer")


def deactivate() -> None:
    set_active(actor=SYSTEM, user=account(), active=False)


def lose_password() -> None:
    renew_password(actor=SYSTEM, user=account())


def revoke() -> None:
    revoke_token(actor=SYSTEM, token_id=str(ApiToken.objects.get().pk))


def expire() -> None:
    """A day passes, as far as tokens know."""
    ApiToken.objects.update(expires_at=now() - timedelta(seconds=1))


BY_SESSION = [(sign_out, 4401), (withdraw, 4403), (deactivate, 4401), (lose_password, 4401)]
BY_TOKEN = [(revoke, 4401), (expire, 4401), (withdraw, 4403), (deactivate, 4401)]
CAUSES = [("session", *one) for one in BY_SESSION] + [("token", *one) for one in BY_TOKEN]
causes = pytest.mark.parametrize(
    ("way", "cause", "code"), CAUSES, ids=[f"{way}-{cause.__name__}" for way, cause, _ in CAUSES]
)


@pytest.fixture
async def thread(transactional_db: None) -> ThreadRef:
    made: ThreadRef = await sync_to_async(journal.new_thread)()
    return made


@pytest.fixture
async def headers(cookie: str) -> Callable[[str], Awaitable[dict[str, str]]]:
    """What a viewer sends, by session or by token."""

    def token() -> str:
        return create_token(actor=SYSTEM, user=account()).secret

    async def of(way: str) -> dict[str, str]:
        if way == "session":
            return {"cookie": cookie}
        return {"cookie": "", "authorization": f"Bearer {await sync_to_async(token)()}"}

    return of


type Headers = Callable[[str], Awaitable[dict[str, str]]]


@causes
async def test_a_threads_socket_and_the_fleets_close(
    connect: Connect,
    thread: ThreadRef,
    headers: Headers,
    way: str,
    cause: Callable[[], None],
    code: int,
) -> None:
    sent = await headers(way)
    one, fleet = (
        await connect(f"/ws/threads/{thread.id}", **sent),
        await connect("/ws/fleet", **sent),
    )
    await one.until("ready")
    await fleet.until("ready")
    await sync_to_async(cause)()
    said = await one.until("closing")
    assert said == {"type": "closing", "code": code, "reason": ENDS[code]}
    assert await asyncio.gather(one.until_closed(), fleet.until_closed()) == [code, code]


@causes
async def test_an_event_stream_ends(
    thread: ThreadRef, headers: Headers, way: str, cause: Callable[[], None], code: int
) -> None:
    source = EventSource(f"/api/v1/threads/{thread.id}/events", await headers(way))
    await source.open()
    assert source.status == 200
    await source.event()
    await sync_to_async(cause)()
    said = {"type": "closing", "code": code, "reason": ENDS[code]}
    assert await source.event() == ("", "closing", said)
    assert (await source.event())[1] == "end"
    await source.leave()


async def test_a_token_without_scopes_opens_nothing(connect: Connect, thread: ThreadRef) -> None:
    def bare() -> str:
        user = create_user(actor=SYSTEM, name="bare", password="correct horse", role="admin")
        made = create_token(actor=SYSTEM, user=user)
        ApiToken.objects.filter(pk=made.token.pk).update(scopes="[]")
        return made.secret

    secret = await sync_to_async(bare)()
    sent = {"cookie": "", "authorization": f"Bearer {secret}"}
    for path in (f"/ws/threads/{thread.id}", "/ws/fleet"):
        socket = await connect(path, **sent)
        assert await socket.until_closed() == 4403


def test_open_connections_are_asked_again_within_five_seconds() -> None:
    assert Timing().recheck < 5.0
