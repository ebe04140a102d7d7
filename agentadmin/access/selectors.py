"""Reads of access: a user's grants, tokens, users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import Actor, Grant
from agentadmin.access.models import ApiToken, RoleAssignment
from agentadmin.access.permissions import permissions_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


def grants_of(user: User) -> tuple[Grant, ...]:
    """What the user's roles allow, and where."""
    rows = RoleAssignment.objects.filter(user_id=user.pk).values_list("role", "namespace", "agent")
    return tuple(Grant(permissions_of(role), namespace, agent) for role, namespace, agent in rows)


def token_list(actor: Actor) -> QuerySet[ApiToken]:
    """The tokens that the actor may see, newest first: their own, or everybody's."""
    tokens = ApiToken.objects.select_related("user").order_by("-created_at", "-id")
    if actor.may_everywhere("tokens:manage"):
        return tokens
    actor.require("tokens:own")
    return tokens.filter(user_id=int(actor.id))
