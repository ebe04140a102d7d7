"""Writes of access: users and roles."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from agentadmin.access.actor import ActorKind
from agentadmin.access.models import RoleAssignment
from agentadmin.access.patterns import ANYTHING
from agentadmin.access.permissions import ROLES, RoleName
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.errors import Conflict, InvalidInput, StepUpRequired

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agentadmin.access.actor import Actor

MANAGE = "access:manage"
MAX_PATTERN = 256
_PASSWORD_BYTES = 15


def create_user(
    *,
    actor: Actor,
    name: str,
    password: str,
    role: str,
    namespace: str = ANYTHING,
    agent: str = ANYTHING,
    reason: str | None = None,
) -> User:
    """An account with one role over what the two patterns name."""
    _require_manager(actor)
    _check_name(name)
    _check_role(role, namespace, agent)
    if not password.strip():
        raise InvalidInput("must not be blank", path="password")
    try:
        with transaction.atomic():
            user = get_user_model().objects.create_user(username=name, password=password)
            RoleAssignment.objects.create(user=user, role=role, namespace=namespace, agent=agent)
            content = {"role": role, "namespace": namespace, "agent": agent}
            append(_entry(actor, user, "users.create", content, reason))
    except IntegrityError as error:
        raise Conflict(f"There is a user {name} already.") from error
    return user


@transaction.atomic
def grant_role(
    *,
    actor: Actor,
    user: User,
    role: str,
    namespace: str = ANYTHING,
    agent: str = ANYTHING,
    reason: str | None = None,
) -> RoleAssignment:
    """One more role for a user; granting it twice changes nothing."""
    _require_manager(actor)
    _check_role(role, namespace, agent)
    assignment, created = RoleAssignment.objects.get_or_create(
        user=user, role=role, namespace=namespace, agent=agent
    )
    if created:
        content = {"role": role, "namespace": namespace, "agent": agent}
        append(_entry(actor, user, "users.grant_role", content, reason))
    return assignment


@transaction.atomic
def withdraw_role(
    *,
    actor: Actor,
    user: User,
    role: str,
    namespace: str = ANYTHING,
    agent: str = ANYTHING,
    reason: str | None = None,
) -> None:
    """Take a role away; it counts from the next request on, and within 5 s on open sockets."""
    _require_manager(actor)
    gone, _ = RoleAssignment.objects.filter(
        user=user, role=role, namespace=namespace, agent=agent
    ).delete()
    if gone:
        _require_an_admin(actor)
        content = {"role": role, "namespace": namespace, "agent": agent}
        append(_entry(actor, user, "users.withdraw_role", content, reason))


@transaction.atomic
def set_active(*, actor: Actor, user: User, active: bool, reason: str | None = None) -> None:
    """Let an account in or shut it out, its tokens and open sockets with it."""
    _require_manager(actor)
    if get_user_model().objects.filter(pk=user.pk, is_active=not active).update(is_active=active):
        user.is_active = active
        _require_an_admin(actor)
        action = "users.activate" if active else "users.deactivate"
        append(_entry(actor, user, action, {}, reason))


@transaction.atomic
def renew_password(*, actor: Actor, user: User, reason: str | None = None) -> str:
    """A new random password for somebody who lost theirs; their browsers are signed out."""
    _require_manager(actor)
    password = new_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    append(_entry(actor, user, "users.renew_password", {}, reason))
    return password


def new_password() -> str:
    """A password that nobody guesses, to be shown once."""
    return secrets.token_urlsafe(_PASSWORD_BYTES)


def _require_manager(actor: Actor) -> None:
    """Users have no place, so the permission must hold everywhere; of a person it must be fresh."""
    actor.require_everywhere(MANAGE)
    if actor.kind is ActorKind.USER and not actor.is_fresh:
        raise StepUpRequired("Enter your password again to change who may do what.")


def _require_an_admin(actor: Actor) -> None:
    """Nobody locks the last administrator out through a door; a command line still can."""
    if actor.kind is ActorKind.SYSTEM:
        return
    left = RoleAssignment.objects.select_for_update().filter(
        role=RoleName.ADMIN, namespace=ANYTHING, agent=ANYTHING, user__is_active=True
    )
    if not left:
        raise Conflict("There would be no administrator left.")


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > 150 or not name.isprintable():
        raise InvalidInput("must be 1 to 150 printable characters", path="name")


def _check_role(role: str, namespace: str, agent: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"must be one of {', '.join(ROLES)}", path="role")
    for path, pattern in (("namespace", namespace), ("agent", agent)):
        if not pattern.strip() or len(pattern) > MAX_PATTERN or not pattern.isprintable():
            raise InvalidInput("must be 1 to 256 printable characters; * is anything", path=path)


def _entry(
    actor: Actor, user: User, action: str, content: dict[str, Any], reason: str | None
) -> NewEntry:
    return NewEntry(
        namespace=None,
        actor=actor,
        action=action,
        target=Target(kind="user", id=str(user.pk), label=user.get_username()),
        outcome=Outcome.ALLOWED,
        reason=reason,
        content=content,
    )
