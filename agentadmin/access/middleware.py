"""The pages' door: `request.actor`, the route's permission, and errors as pages.

The API has its own door (`door.py`) with the same rules; this one leaves it alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.limits import SAFE, limit
from agentadmin.access.operations import is_api
from agentadmin.access.refusals import record_refusal
from agentadmin.access.routes import PUBLIC, SIGNED_IN, permission_of
from agentadmin.access.views import carried_fields
from agentadmin.engine.errors import AgentAdminError, NotAuthenticated, RateLimited, StepUpRequired
from agentadmin.logs import bind_named
from agentadmin.problems import of_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

_TEMPLATES = {403: "403.html", 404: "404.html"}


class ActorMiddleware(MiddlewareMixin):
    """Refuses a page to whoever may not see it, and a route that declares nothing to everybody."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Check the declared permission before the view runs."""
        bind_named(kwargs)
        request.actor = SimpleLazyObject(lambda: actor_from_request(request))  # type: ignore[attr-defined]
        if is_api(view):
            return None
        permission = permission_of(view)
        if permission is None:
            raise ImproperlyConfigured(f"{request.path} declares no permission: use @requires(…).")
        if permission == PUBLIC:
            return None
        try:
            _admit(request, permission)
        except AgentAdminError as error:
            return error_page(request, error)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A page's own error becomes a page; everything else is Django's."""
        if isinstance(exception, AgentAdminError):
            return error_page(request, exception)
        return None


def error_page(request: HttpRequest, error: AgentAdminError) -> HttpResponse:
    """The page for an error of the engine's tree; nobody is sent to sign in."""
    record_refusal(request, error)
    if isinstance(error, NotAuthenticated):
        return _to_sign_in(request)
    if isinstance(error, StepUpRequired):
        context: dict[str, Any] = {"next": request.path, "carried": carried_fields(request)}
        return render(request, "access/step_up.html", context, status=403)
    context = of_error(error)
    template = _TEMPLATES.get(context["status"], "error.html")
    response = render(request, template, context, status=context["status"])
    if isinstance(error, RateLimited):
        response["Retry-After"] = f"{error.retry_after:.0f}"
    return response


def _admit(request: HttpRequest, permission: str) -> None:
    actor = actor_from_request(request)
    if not actor.is_authenticated:
        raise NotAuthenticated
    if request.method not in SAFE:
        limit(actor, request.method or "POST")
    if permission != SIGNED_IN:
        actor.require(permission)
    request.actor = actor  # type: ignore[attr-defined]


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page in place of the one that was asked for, which it leads back to."""
    next_ = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    address = f"{reverse('sign_in')}?{urlencode({'next': next_})}"
    if not request.headers.get("HX-Request"):
        return redirect(address)
    # htmx follows a redirect inside the page; this one is for the whole window.
    response = HttpResponse(status=401)
    response["HX-Redirect"] = address
    return response
