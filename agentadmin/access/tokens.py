"""API tokens: `aa_…` secrets of which only the hash is kept."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from agentadmin.access.actor import WIDEN, ActorKind
from agentadmin.access.errors import TokenExpired, TokenInvalid, TokenRevoked
from agentadmin.access.models import ApiToken
from agentadmin.access.permissions import unknown_permissions
from agentadmin.access.selectors import grants_of, refuse_bound, token_detail
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.clock import iso, now
from agentadmin.engine.errors import Forbidden, InvalidInput, StepUpRequired
from agentadmin.engine.identity import check_id
from agentadmin.engine.state.codec import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from django.contrib.auth.models import User

    from agentadmin.access.actor import Actor, Grant

MARK = "aa_"
MAX_DAYS = 90
_PREFIX = len(MARK) + 6
_TOUCH_EVERY = timedelta(minutes=1)
_RANDOM_BYTES = 32
# Whoever holds these could go round the fresh sign-in that a browser is asked for.
GUARDED = frozenset({WIDEN, "access:manage", "tokens:manage"})


class NewToken(NamedTuple):
    """The row, and the secret that is shown this once."""

    token: ApiToken
    secret: str


@dataclass(frozen=True, slots=True)
class Presented:
    """A token that was accepted, with what it allows: the user's grants within its scopes."""

    token: ApiToken
    grants: tuple[Grant, ...]


@transaction.atomic
def create_token(
    *,
    actor: Actor,
    user: User,
    name: str = "",
    scopes: Collection[str] | None = None,
    days: int = MAX_DAYS,
    bound_user_id: str | None = None,
) -> NewToken:
    """A token within its user's permissions (all of them by default) and within the actor's."""
    _check_may_create(actor, user)
    allowed = sorted(_checked_scopes(actor, user, scopes))
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(f"must be from 1 to {MAX_DAYS}", path="days")
    if bound_user_id is not None:
        check_id(bound_user_id, "bound_user_id")
    _require_fresh(actor, allowed)
    if len(name) > 200 or (name and not name.isprintable()):
        raise InvalidInput("must be at most 200 printable characters", path="name")
    secret = MARK + secrets.token_urlsafe(_RANDOM_BYTES)
    token = ApiToken.objects.create(
        user=user,
        name=name or f"Token of {user.get_username()}",
        prefix=secret[:_PREFIX],
        digest=_digest(secret),
        scopes=dumps(allowed),
        bound_user_id=bound_user_id,
        expires_at=_end(actor, days),
    )
    append(_entry(actor, token, "tokens.create"))
    return NewToken(token, secret)


@transaction.atomic
def revoke_token(*, actor: Actor, token_id: str, reason: str | None = None) -> ApiToken:
    """Make a token worthless at once; revoking it twice changes nothing."""
    token = token_detail(actor, token_id)
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now()) == 1:
        token.refresh_from_db(fields=["revoked_at"])
        append(_entry(actor, token, "tokens.revoke", reason))
    return token


def authenticate_token(secret: str) -> Presented:
    """The token behind a secret; raises what is wrong with it."""
    digest = _digest(secret)
    token = ApiToken.objects.select_related("user").filter(digest=digest).first()
    if token is None or not hmac.compare_digest(token.digest, digest):
        raise TokenInvalid
    problem = refusal(token, now())
    if problem is not None:
        raise problem
    _touch(token)
    return Presented(token, narrowed(grants_of(token.user), scopes_of(token)))


def refusal(token: ApiToken, at: datetime) -> TokenInvalid | TokenExpired | TokenRevoked | None:
    """Why a token counts for nothing, or None."""
    if token.revoked_at is not None:
        return TokenRevoked()
    if token.expires_at <= at:
        return TokenExpired()
    return None if token.user.is_active else TokenInvalid()


def scopes_of(token: ApiToken) -> frozenset[str]:
    """The permissions that the token may use."""
    return frozenset(str(scope) for scope in loads(token.scopes))


def narrowed(grants: tuple[Grant, ...], scopes: frozenset[str]) -> tuple[Grant, ...]:
    """The grants with nothing beyond the scopes."""
    return tuple(grant.within(scopes) for grant in grants)


def is_uuid(text: str) -> bool:
    """Whether a row could have this id at all."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _check_may_create(actor: Actor, user: User) -> None:
    refuse_bound(actor)
    if actor.id == str(user.pk):
        actor.require("tokens:own")
    else:
        actor.require_everywhere("tokens:manage")


def _checked_scopes(actor: Actor, user: User, scopes: Collection[str] | None) -> frozenset[str]:
    """No token exceeds its user, and nobody makes one that exceeds themselves."""
    held = frozenset[str]().union(*(grant.permissions for grant in grants_of(user)))
    if scopes is None:
        return held & actor.permissions
    if unknown := unknown_permissions(scopes):
        raise InvalidInput(f"unknown permission {unknown[0]}", path="scopes")
    for scope in sorted(scopes):
        if scope not in held or scope not in actor.permissions:
            raise Forbidden(scope, f"A token cannot have {scope}: its user or you lack it.")
    if not scopes:
        raise InvalidInput("must name at least one permission", path="scopes")
    return frozenset(scopes)


def _require_fresh(actor: Actor, scopes: Collection[str]) -> None:
    """A stolen browser session must not become a token that needs no password."""
    if actor.kind is ActorKind.USER and not actor.is_fresh and GUARDED & set(scopes):
        raise StepUpRequired("Enter your password again to make a token that may widen.")


def _end(actor: Actor, days: int) -> datetime:
    """When the token ends: never later than the token that made it."""
    end = now() + timedelta(days=days)
    if actor.token_id is None:
        return end
    parents = ApiToken.objects.filter(pk=actor.token_id).values_list("expires_at", flat=True)
    return min([end, *parents])


def _touch(token: ApiToken) -> None:
    """Note the use, at most once a minute: a busy token must not write on every request."""
    at = now()
    if token.last_used_at is None or at - token.last_used_at >= _TOUCH_EVERY:
        ApiToken.objects.filter(
            Q(last_used_at=None) | Q(last_used_at__lte=at - _TOUCH_EVERY), pk=token.pk
        ).update(last_used_at=at)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _entry(actor: Actor, token: ApiToken, action: str, reason: str | None = None) -> NewEntry:
    return NewEntry(
        namespace=None,
        actor=actor,
        action=action,
        target=Target(kind="token", id=str(token.pk), label=token.name),
        outcome=Outcome.ALLOWED,
        reason=reason,
        content={
            "user": token.user.get_username(),
            "scopes": loads(token.scopes),
            "bound_user_id": token.bound_user_id,
            "expires_at": iso(token.expires_at),
        },
    )
