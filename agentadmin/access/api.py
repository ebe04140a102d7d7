"""API tokens over HTTP: list them, make one, revoke one."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import Actor
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.access.schemas import CreatedToken, CreateToken, Token, token_item
from agentadmin.access.selectors import token_page
from agentadmin.access.tokens import create_token, revoke_token
from agentadmin.api_schemas import Cursor, Limit, Page, Uuid
from agentadmin.engine.errors import InvalidInput
from agentadmin.replies import reply

tokens_router = Router()
OWN = "tokens:own"


@tokens_router.get("/tokens", operation_id="listTokens", response=Page[Token])
@requires(OWN)
def list_tokens(
    request: HttpRequest, cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """One's own tokens, newest first; with `tokens:manage` everybody's."""
    page = token_page(caller(request), cursor=cursor, limit=limit)
    items = [token_item(token) for token in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@tokens_router.post("/tokens", operation_id="createToken", response={201: CreatedToken})
@requires(OWN)
def create(request: HttpRequest, body: CreateToken) -> HttpResponse:
    """A token within what its user and the caller may do; its secret is in this answer only."""
    actor = caller(request)
    made = create_token(
        actor=actor,
        user=_owner(actor, body.user),
        name=body.name,
        scopes=body.scopes,
        days=body.days,
        bound_user_id=body.bound_user_id,
    )
    headers = {"Cache-Control": "no-store"}
    return reply({**token_item(made.token), "token": made.secret}, 201, headers)


@tokens_router.delete("/tokens/{token_id}", operation_id="revokeToken", response=Token)
@requires(OWN)
def revoke(request: HttpRequest, token_id: Uuid) -> HttpResponse:
    """Make a token worthless at once; open sockets and streams of it close."""
    return reply(token_item(revoke_token(actor=caller(request), token_id=token_id)))


def _owner(actor: Actor, name: str | None) -> User:
    if name is None or name == actor.name:
        return get_user_model().objects.get(pk=int(actor.id))
    actor.require_everywhere("tokens:manage")
    user = get_user_model().objects.filter(username=name.replace("\0", "")).first()
    if user is None:
        raise InvalidInput("names no user", path="user")
    return user
