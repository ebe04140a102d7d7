"""Change one's own password: the present one is proven, every other session ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from agentadmin.access.authentication import actor_from_request, mark_fresh
from agentadmin.access.sign_in import WRONG_PASSWORD, proven
from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.engine.errors import InvalidInput

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

ACTION = "access.change_password"


def change_password(request: HttpRequest, *, current: str, new: str) -> None:
    """Raises `NotAuthenticated`, `RateLimited`, or `InvalidInput` for a weak new one."""
    actor = actor_from_request(request)
    user = proven(request, actor.name, current, ACTION, wrong=WRONG_PASSWORD)
    _check(new, user)
    with transaction.atomic():
        user.set_password(new)
        user.save(update_fields=["password"])
        target = Target(kind="user", id=actor.id, label=actor.name)
        append(
            NewEntry(
                namespace=None,
                actor=actor,
                action=ACTION,
                target=target,
                outcome=Outcome.ALLOWED,
            )
        )
    # Sessions carry a hash of the password: all but this one end with the next request.
    update_session_auth_hash(request, user)
    mark_fresh(request)


def _check(new: str, user: User) -> None:
    try:
        validate_password(new, user)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), path="new") from error
