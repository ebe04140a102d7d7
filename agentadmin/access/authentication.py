"""From a request or a socket to an `Actor`: a bearer token, else the session, else nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from agentadmin.access.actor import Actor, ActorKind
from agentadmin.access.address import client_address
from agentadmin.access.errors import TokenInvalid
from agentadmin.access.selectors import grants_of
from agentadmin.access.tokens import authenticate_token
from agentadmin.engine.clock import now
from agentadmin.trace import trace_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.base import SessionBase

STEP_UP_LASTS = timedelta(minutes=10)
_FRESH_AT = "access_fresh_at"
_BEARER = "bearer"


def actor_from_request(request: HttpRequest) -> Actor:
    """Who sends this request; asked again, the same answer without asking the database."""
    known: Actor | None = getattr(request, "_access_actor", None)
    if known is None:
        known = _of_request(request)
        request._access_actor = known  # type: ignore[attr-defined]
    return known


def actor_again(request: HttpRequest) -> Actor:
    """Who a long answer is for by now: after a sign-out, a revocation or a change of roles."""
    return actor_from_scope(
        {
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in request.headers.items()
            ],
            "cookies": request.COOKIES,
            "client": (request.META.get("REMOTE_ADDR", ""), 0),
        }
    )


def actor_from_scope(scope: Mapping[str, Any]) -> Actor:
    """Who holds this socket now; every call reads session, user, roles and token afresh."""
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1")
        for name, value in scope.get("headers", ())
    }
    peer = (scope.get("client") or ("",))[0]
    address = client_address(peer, headers.get("x-forwarded-for", ""))
    if "authorization" in headers:
        return _of_token(headers["authorization"], address)
    request = HttpRequest()
    request.session = _stored_session(scope.get("cookies", {}))
    user = get_user(request)
    if isinstance(user, AnonymousUser):
        return Actor.anonymous(address=address, trace_id=trace_id())
    return _of_user(user, request.session, address)


def mark_fresh(request: HttpRequest) -> None:
    """The password was given just now."""
    request.session[_FRESH_AT] = now().timestamp()


def step_up_fresh(request: HttpRequest) -> bool:
    """Whether the password was given within the last ten minutes."""
    until = _fresh_until(request.session)
    return until is not None and now() < until


def _of_request(request: HttpRequest) -> Actor:
    address = address_of(request)
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        return _of_token(authorization, address)
    user = request.user
    if isinstance(user, AnonymousUser):
        return Actor.anonymous(address=address, trace_id=trace_id())
    return _of_user(user, request.session, address)


def address_of(request: HttpRequest) -> str | None:
    """Where a request comes from."""
    return client_address(
        request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")
    )


def _of_user(user: User, session: SessionBase, address: str | None) -> Actor:
    return Actor(
        kind=ActorKind.USER,
        id=str(user.pk),
        name=user.get_username(),
        grants=grants_of(user),
        fresh_until=_fresh_until(session),
        address=address,
        trace_id=trace_id(),
    )


def _of_token(authorization: str, address: str | None) -> Actor:
    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != _BEARER:
        raise TokenInvalid("Send the token as `Authorization: Bearer aa_…`.")
    presented = authenticate_token(secret.strip())
    token = presented.token
    return Actor(
        kind=ActorKind.TOKEN,
        id=str(token.user_id),
        name=token.user.get_username(),
        grants=presented.grants,
        token_id=str(token.pk),
        bound_user_id=token.bound_user_id,
        address=address,
        trace_id=trace_id(),
    )


def _fresh_until(session: SessionBase) -> datetime | None:
    at = session.get(_FRESH_AT)
    return None if at is None else datetime.fromtimestamp(at, UTC) + STEP_UP_LASTS


def _stored_session(cookies: Mapping[str, str]) -> SessionBase:
    engine = import_module(settings.SESSION_ENGINE)
    session: SessionBase = engine.SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))
    return session
