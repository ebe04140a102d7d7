"""What the API takes and gives of tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import WithJsonSchema

from agentadmin.access.models import ApiToken
from agentadmin.access.tokens import MAX_DAYS, scopes_of
from agentadmin.api_schemas import Answer, Body, Json, Time, Uuid, one_of
from agentadmin.engine.clock import iso, now

Days = Annotated[
    int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": MAX_DAYS})
]


class CreateToken(Body):
    """A new token; without `user` one's own, without `scopes` with all that one may do."""

    name: str = ""
    user: str | None = None
    scopes: list[str] | None = None
    days: Days = MAX_DAYS
    bound_user_id: str | None = None


class Token(Answer):
    """A token as lists show it: never its secret."""

    id: Uuid
    name: str
    prefix: str
    user: str
    scopes: list[str]
    bound_user_id: str | None
    state: Annotated[str, one_of("active", "expired", "revoked")]
    created_at: Time
    expires_at: Time
    last_used_at: Time | None
    revoked_at: Time | None


class CreatedToken(Token):
    """A new token with its secret, which no other answer holds."""

    token: str


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
