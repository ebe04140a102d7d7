"""Prove a password: throttled, audited, and the same answer for every wrong guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import authenticate, login, logout
from django.db import transaction

from agentadmin.access.actor import Actor
from agentadmin.access.authentication import actor_from_request, address_of, mark_fresh
from agentadmin.access.sign_ins import note_place
from agentadmin.access.throttle import count_attempt, forgive
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.later import append_later
from agentadmin.engine.errors import NotAuthenticated, RateLimited
from agentadmin.trace import trace_id

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

WRONG = "User name or password is wrong."
WRONG_PASSWORD = "The password is wrong."  # noqa: S105 - what is said, not a password


def sign_in(request: HttpRequest, *, name: str, password: str) -> None:
    """Open a session under a new key, or raise `NotAuthenticated` or `RateLimited`."""
    user = proven(request, name, password, "access.sign_in")
    login(request, user)
    mark_fresh(request)
    note_place(request)
    _forget_actor(request)
    _append(actor_from_request(request), user, "access.sign_in")


def step_up(request: HttpRequest, *, password: str) -> None:
    """Prove again, within a session, that its owner is there."""
    actor = actor_from_request(request)
    user = proven(request, actor.name, password, "access.step_up", wrong=WRONG_PASSWORD)
    mark_fresh(request)
    request.session.cycle_key()
    _forget_actor(request)
    _append(actor, user, "access.step_up")


def sign_out(request: HttpRequest) -> None:
    """End the session everywhere it is open."""
    actor = actor_from_request(request)
    if actor.is_authenticated:
        target = Target(kind="user", id=actor.id, label=actor.name)
        with transaction.atomic():
            append(_entry(actor, target, "access.sign_out", Outcome.ALLOWED))
    logout(request)
    _forget_actor(request)


def proven(
    request: HttpRequest, name: str, password: str, action: str, *, wrong: str = WRONG
) -> User:
    """The user whose password this is; a wrong one is counted, audited and refused."""
    address = address_of(request)
    try:
        count_attempt(name, address)
    except RateLimited as error:
        _append_refused(request, name, action, Outcome.DENIED, error.code)
        raise
    user = authenticate(request, username=name, password=password)
    if user is None:
        _append_refused(request, name, action, Outcome.FAILED, NotAuthenticated.code)
        raise NotAuthenticated(wrong)
    forgive(name, address)
    return user


def _append(actor: Actor, user: User, action: str) -> None:
    target = Target(kind="user", id=str(user.pk), label=user.get_username())
    with transaction.atomic():
        append(_entry(actor, target, action, Outcome.ALLOWED))


def _append_refused(
    request: HttpRequest, name: str, action: str, outcome: Outcome, code: str
) -> None:
    """Nobody was proven: the actor is anonymous, the claimed name only a label."""
    actor = Actor.anonymous(address=address_of(request), trace_id=trace_id())
    target = Target(kind="user", label=name[:150])
    append_later(_entry(actor, target, action, outcome, code))


def _entry(
    actor: Actor, target: Target, action: str, outcome: Outcome, code: str | None = None
) -> NewEntry:
    return NewEntry(
        namespace=None,
        actor=actor,
        action=action,
        target=target,
        outcome=outcome,
        content={"code": code} if code else None,
    )


def _forget_actor(request: HttpRequest) -> None:
    """Who sends this request has changed under it."""
    vars(request).pop("_access_actor", None)
