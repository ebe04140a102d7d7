"""Three people and a program: the operator, the viewer, the stranger, and an end user's token."""

from __future__ import annotations

from datetime import timedelta

from agentadmin.access.actor import Actor, ActorKind, Grant
from agentadmin.access.permissions import permissions_of
from agentadmin.engine.clock import now
from agentadmin.engine.state.permissions import PermissionContext


def person(name: str, role: str, *, namespace: str = "*", fresh: bool = True) -> Actor:
    """Somebody signed in with one role."""
    return Actor(
        kind=ActorKind.USER,
        id=f"id of {name}",
        name=name,
        grants=(Grant(permissions_of(role), namespace),),
        fresh_until=now() + timedelta(hours=1) if fresh else None,
        trace_id=f"trace-{name}",
    )


OPERATOR = person("olga", "operator")
VIEWER = person("victor", "viewer")
STRANGER = person("stella", "operator", namespace="elsewhere")


def end_user(user_id: str) -> Actor:
    """A program that speaks for one end user."""
    permissions = permissions_of("operator")
    return Actor(
        kind=ActorKind.TOKEN,
        id="id of a program",
        name="chat",
        token_id="t1",
        grants=(Grant(permissions),),
        bound_user_id=user_id,
    )


def no_permissions(agent_id: str) -> PermissionContext:
    """What an agent may do that nobody has described."""
    return PermissionContext()
