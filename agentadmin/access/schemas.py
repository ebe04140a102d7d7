"""What the API takes and gives of tokens."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import ConfigDict

from agentadmin.access.models import ApiToken
from agentadmin.access.tokens import MAX_DAYS, scopes_of
from agentadmin.engine.clock import iso, now

Json = dict[str, Any]


class CreateToken(Schema):
    """A new token; without `user` one's own, without `scopes` with all that one may do."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = ""
    user: str | None = None
    scopes: list[str] | None = None
    days: int = MAX_DAYS
    bound_user_id: str | None = None


class Token(Schema):
    """A token as lists show it: never its secret."""

    id: str
    name: str
    prefix: str
    user: str
    scopes: list[str]
    bound_user_id: str | None
    state: str
    created_at: str
    expires_at: str
    last_used_at: str | None
    revoked_at: str | None


class CreatedToken(Token):
    """A new token with its secret, which no other answer holds."""

    token: str


class TokenPage(Schema):
    """Some tokens, newest first."""

    items: list[Token]
    next_cursor: str | None


def token_item(token: ApiToken) -> Json:
    """A token as lists show it."""
    return {
        "id": str(token.pk),
        "name": token.name,
        "prefix": token.prefix,
        "user": token.user.get_username(),
        "scopes": sorted(scopes_of(token)),
        "bound_user_id": token.bound_user_id,
        "state": token_state(token),
        "created_at": iso(token.created_at),
        "expires_at": iso(token.expires_at),
        "last_used_at": iso(token.last_used_at) if token.last_used_at else None,
        "revoked_at": iso(token.revoked_at) if token.revoked_at else None,
    }


def token_state(token: ApiToken) -> str:
    """`active`, `expired` or `revoked`."""
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at <= now() else "active"
