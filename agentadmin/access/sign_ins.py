"""Where one is signed in: the browser sessions of an account, and how to end one from afar.

A session's key is a secret like a password, so lists name sessions by a hash of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.db import transaction

from agentadmin.access.authentication import actor_from_request, address_of
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.clock import now
from agentadmin.engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest


_PLACE = "access_place"
MAX_BROWSER = 200
# Sessions do not say whose they are, so that many of the newest are looked at.
MOST_SESSIONS = 5_000


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser in which an account is signed in."""

    id: str
    address: str | None
    browser: str
    since: datetime | None
    expires_at: datetime
    is_this: bool


def note_place(request: HttpRequest) -> None:
    """Remember with the session where it was opened."""
    request.session[_PLACE] = {
        "address": address_of(request),
        "browser": request.headers.get("User-Agent", "")[:MAX_BROWSER],
        "at": now().timestamp(),
    }


def sign_ins(request: HttpRequest) -> list[SignIn]:
    """Where the account of this request is signed in; this browser first, then the newest."""
    found = [_shown(row, data, request) for row, data in _sessions_of(request)]
    return sorted(found, key=lambda one: (not one.is_this, -one.expires_at.timestamp()))


@transaction.atomic
def end_sign_in(request: HttpRequest, *, sign_in_id: str) -> None:
    """Sign the account out of one browser; its pages and sockets stop with their next look."""
    actor = actor_from_request(request)
    rows = (row for row, _ in _sessions_of(request))
    keys = [row.session_key for row in rows if _hash(row.session_key) == sign_in_id]
    if not keys:
        raise NotFound("There is no such sign-in any more.")
    Session.objects.filter(session_key__in=keys).delete()
    append(
        NewEntry(
            namespace=None,
            actor=actor,
            action="access.end_sign_in",
            target=Target(kind="user", id=actor.id, label=actor.name),
            outcome=Outcome.ALLOWED,
        )
    )


def _sessions_of(request: HttpRequest) -> Iterator[tuple[Session, dict[str, Any]]]:
    """Sessions that still count: a changed password has ended those from before it."""
    user = request.user
    if isinstance(user, AnonymousUser):
        return
    mark = user.get_session_auth_hash()
    rows = Session.objects.filter(expire_date__gt=now()).order_by("-expire_date")
    for row in rows[:MOST_SESSIONS].iterator(chunk_size=500):
        data = row.get_decoded()
        if data.get(SESSION_KEY) == str(user.pk) and data.get(HASH_SESSION_KEY) == mark:
            yield row, data


def _shown(row: Session, data: dict[str, Any], request: HttpRequest) -> SignIn:
    place = data.get(_PLACE, {})
    at = place.get("at")
    return SignIn(
        id=_hash(row.session_key),
        address=place.get("address"),
        browser=place.get("browser", ""),
        since=datetime.fromtimestamp(at, UTC) if at else None,
        expires_at=row.expire_date,
        is_this=row.session_key == request.session.session_key,
    )


def _hash(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:32]
