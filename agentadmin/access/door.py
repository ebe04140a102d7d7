"""The API's door: Ninja's authentication, which checks the route's permission before the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from agentadmin.access.actor import Actor, ActorKind
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.errors import CsrfFailed
from agentadmin.access.limits import limit
from agentadmin.access.refusals import record_refusal
from agentadmin.engine.errors import AgentAdminError, NotAuthenticated

if TYPE_CHECKING:
    from django.http import HttpRequest


class ActorAuth(AuthBase):
    """A bearer token, or the session cookie with its CSRF token; `request.auth` is the Actor."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, permission: str | None) -> None:
        super().__init__()
        self.permission = permission

    def __call__(self, request: HttpRequest) -> Actor:
        """The actor, or 401 for nobody, 403 for whoever may not."""
        try:
            return self._admit(request)
        except AgentAdminError as error:
            record_refusal(request, error)
            raise

    def _admit(self, request: HttpRequest) -> Actor:
        actor = actor_from_request(request)
        if not actor.is_authenticated:
            raise NotAuthenticated
        if actor.kind is ActorKind.USER and check_csrf(request) is not None:
            raise CsrfFailed
        limit(actor, request.method or "GET")
        if self.permission is not None:
            actor.require(self.permission)
        request.actor = actor  # type: ignore[attr-defined]
        return actor


class RefuseUndeclared(AuthBase):
    """The API's default: an operation that declares no permission answers nobody."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> None:
        """Say what the programmer forgot."""
        raise ImproperlyConfigured(f"{request.path} declares no permission: use @requires(…).")
