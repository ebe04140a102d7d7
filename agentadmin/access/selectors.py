"""Reads of access: a user's grants, tokens, users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db.models import Q

from agentadmin.access.actor import Actor, Grant
from agentadmin.access.errors import Hidden
from agentadmin.access.models import ApiToken, RoleAssignment
from agentadmin.access.permissions import permissions_of
from agentadmin.audit.format import Target
from agentadmin.engine.errors import Forbidden, NotFound
from agentadmin.paging import Page, checked_limit, parse_time_cursor, row_id, time_cursor

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def grants_of(user: User) -> tuple[Grant, ...]:
    """What the user's roles allow, and where."""
    rows = RoleAssignment.objects.filter(user_id=user.pk).values_list("role", "namespace", "agent")
    return tuple(Grant(permissions_of(role), namespace, agent) for role, namespace, agent in rows)


def roles_of(user_id: str) -> list[RoleAssignment]:
    """A user's roles, as they were given."""
    return list(RoleAssignment.objects.filter(user_id=int(user_id)).order_by("role", "id"))


def user_page(
    actor: Actor, *, q: str = "", cursor: str | None = None, limit: int = 50
) -> Page[User]:
    """Accounts by name, with their roles; only for who manages them."""
    actor.require_everywhere("access:manage")
    rows = get_user_model().objects.prefetch_related("role_assignments").order_by("username")
    if q:
        rows = rows.filter(username__icontains=q.replace("\0", ""))
    if cursor:
        rows = rows.filter(username__gt=cursor.replace("\0", ""))
    found = list(rows[: checked_limit(limit) + 1])
    items = found[:limit]
    return Page(items, items[-1].get_username() if len(found) > limit else None)


def user_detail(actor: Actor, user_id: int) -> User:
    """One account; only for who manages them."""
    actor.require_everywhere("access:manage")
    user = get_user_model().objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound("There is no such user.")
    return user


def token_page(actor: Actor, *, cursor: str | None = None, limit: int = 50) -> Page[ApiToken]:
    """The tokens that the actor may see, newest first: their own, or everybody's."""
    rows = ApiToken.objects.select_related("user").filter(theirs(actor))
    if cursor:
        at, id_ = parse_time_cursor(cursor)
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=id_))
    found = list(rows.order_by("-created_at", "-id")[: checked_limit(limit) + 1])
    items = found[:limit]
    more = len(found) > limit
    return Page(items, time_cursor(items[-1].created_at, items[-1].pk) if more else None)


def token_detail(actor: Actor, token_id: str) -> ApiToken:
    """A token that the actor may see; another's is not found, and the attempt is audited."""
    mine = theirs(actor)
    rows = ApiToken.objects.select_related("user").filter(pk=row_id(token_id))
    token = rows.first()
    if token is None:
        raise NotFound("There is no such token.")
    if not rows.filter(mine).exists():
        raise Hidden(namespace=None, target=Target(kind="token", id=str(token.pk)))
    return token


def theirs(actor: Actor) -> Q:
    """The tokens that the actor may see and revoke: their own, or everybody's."""
    refuse_bound(actor)
    if actor.may_everywhere("tokens:manage"):
        return Q()
    actor.require("tokens:own")
    return Q(user_id=int(actor.id))


def refuse_bound(actor: Actor) -> None:
    """Who acts for one end user has no business with its account's other tokens."""
    if actor.bound_user_id is not None:
        raise Forbidden("tokens:own", "A token that is bound to a user cannot manage tokens.")
