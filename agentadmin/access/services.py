"""Writes of access: users and roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from agentadmin.access.models import RoleAssignment
from agentadmin.access.permissions import ROLES
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agentadmin.access.actor import Actor


def create_user(
    *,
    actor: Actor,
    name: str,
    password: str,
    role: str,
    namespace: str = "*",
    agent: str = "*",
) -> User:
    """An account with one role over what the two patterns name."""
    actor.require_everywhere("access:manage")
    _check_name(name)
    _check_role(role)
    if not password.strip():
        raise InvalidInput("must not be blank", path="password")
    try:
        with transaction.atomic():
            user = get_user_model().objects.create_user(username=name, password=password)
            RoleAssignment.objects.create(user=user, role=role, namespace=namespace, agent=agent)
            append(_entry(actor, user, "users.create", role, namespace, agent))
    except IntegrityError as error:
        raise Conflict(f"There is a user {name} already.") from error
    return user


@transaction.atomic
def grant_role(
    *, actor: Actor, user: User, role: str, namespace: str = "*", agent: str = "*"
) -> RoleAssignment:
    """One more role for a user; granting it twice changes nothing."""
    actor.require_everywhere("access:manage")
    _check_role(role)
    assignment, created = RoleAssignment.objects.get_or_create(
        user=user, role=role, namespace=namespace, agent=agent
    )
    if created:
        append(_entry(actor, user, "users.grant_role", role, namespace, agent))
    return assignment


@transaction.atomic
def withdraw_role(
    *, actor: Actor, user: User, role: str, namespace: str = "*", agent: str = "*"
) -> None:
    """Take a role away; it counts from the next request on, and within 5 s on open sockets."""
    actor.require_everywhere("access:manage")
    gone, _ = RoleAssignment.objects.filter(
        user=user, role=role, namespace=namespace, agent=agent
    ).delete()
    if gone:
        append(_entry(actor, user, "users.withdraw_role", role, namespace, agent))


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > 150 or not name.isprintable():
        raise InvalidInput("must be 1 to 150 printable characters", path="name")


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"must be one of {', '.join(ROLES)}", path="role")


def _entry(
    actor: Actor, user: User, action: str, role: str, namespace: str, agent: str
) -> NewEntry:
    return NewEntry(
        namespace=None,
        actor=actor,
        action=action,
        target=Target(kind="user", id=str(user.pk), label=user.get_username()),
        outcome=Outcome.ALLOWED,
        content={"role": role, "namespace": namespace, "agent": agent},
    )
