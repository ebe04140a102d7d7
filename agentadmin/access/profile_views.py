"""One's own page: who one is here, what one may do where, and how this browser shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.dialogs import leave
from agentadmin.access.forms import PasswordForm
from agentadmin.access.passwords import change_password
from agentadmin.access.permissions import PERMISSIONS
from agentadmin.access.routes import SIGNED_IN, requires
from agentadmin.access.selectors import roles_of
from agentadmin.access.sign_ins import end_sign_in, sign_ins
from agentadmin.engine.errors import InvalidInput, NotAuthenticated, NotFound, RateLimited
from agentadmin.preferences import is_zone
from agentadmin.problems import row

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@requires(SIGNED_IN)
@require_safe
def profile(request: HttpRequest) -> HttpResponse:
    """Identity, roles, sign-ins, preferences, keys."""
    return _page(request, PasswordForm())


@requires(SIGNED_IN)
@never_cache
@sensitive_post_parameters("current", "new", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password; the other sessions of the account end."""
    if request.method != "POST":
        return redirect(f"{reverse('profile')}#password")
    form = PasswordForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    given = form.cleaned_data
    try:
        change_password(request, current=given["current"], new=given["new"])
    except (NotAuthenticated, RateLimited) as error:
        form.add_error("current", error.detail)
        return _page(request, form, status=429 if isinstance(error, RateLimited) else 403)
    except InvalidInput as error:
        form.add_error("new", error.detail)
        return _page(request, form, status=row(error)[0])
    said = "Your password is changed; every other browser is signed out."
    return leave(request, reverse("profile"), said)


@requires(SIGNED_IN)
@require_POST
def sign_in_end(request: HttpRequest, sign_in_id: str) -> HttpResponse:
    """Sign the account out of one browser."""
    try:
        end_sign_in(request, sign_in_id=sign_in_id)
    except NotFound:
        return leave(request, reverse("profile"), "That browser was signed out already.")
    return leave(request, reverse("profile"), "That browser is signed out.")


def _page(request: HttpRequest, form: PasswordForm, *, status: int = 200) -> HttpResponse:
    actor = actor_from_request(request)
    context = {
        "nav": "profile",
        "user": request.user,
        "roles": roles_of(actor.id),
        "allowed": [(name, label) for name, label in PERMISSIONS.items() if actor.may(name)],
        "lacking": [(name, label) for name, label in PERMISSIONS.items() if not actor.may(name)],
        "sign_ins": sign_ins(request),
        "form": form,
        "wrong_zone": _wrong_zone(request),
        "may_tokens": actor.may("tokens:own"),
    }
    return render(request, "access/profile.html", context, status=status)


def _wrong_zone(request: HttpRequest) -> str:
    """The name that was refused as a time zone, to be shown at its field."""
    name = request.GET.get("zone", "")
    return name if name and not is_zone(name) else ""
