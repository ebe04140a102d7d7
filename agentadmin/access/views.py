"""The pages of sign-in, sign-out and step-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from agentadmin.access import sign_in as proof
from agentadmin.access.forms import SignInForm, StepUpForm
from agentadmin.access.routes import PUBLIC, SIGNED_IN, requires
from agentadmin.engine.errors import NotAuthenticated, RateLimited

if TYPE_CHECKING:
    from django.forms import Form
    from django.http import HttpRequest, HttpResponse

_NOT_CARRIED = {"csrfmiddlewaretoken", "next", "password"}


class _RedirectWithBody(HttpResponseRedirect):
    """The browser posts the same fields again, to where they were meant to go."""

    status_code = 307


@requires(PUBLIC)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, then go where the visitor was going."""
    next_ = safe_next(request)
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(next_)
        return _page(request, "access/sign_in.html", SignInForm(), next_)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _page(request, "access/sign_in.html", form, next_, status=422)
    given = form.cleaned_data
    try:
        proof.sign_in(request, name=given["username"], password=given["password"])
    except (NotAuthenticated, RateLimited) as error:
        return _refused(request, "access/sign_in.html", form, next_, error)
    return HttpResponseRedirect(next_)


@requires(PUBLIC)
@never_cache
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    proof.sign_out(request)
    return redirect("sign_in")


@requires(SIGNED_IN)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def step_up(request: HttpRequest) -> HttpResponse:
    """Ask for the password again, then go on with what it was asked for."""
    next_ = safe_next(request)
    if request.method != "POST":
        return _page(request, "access/step_up.html", StepUpForm(), next_)
    form = StepUpForm(request.POST)
    if not form.is_valid():
        return _page(request, "access/step_up.html", form, next_, status=422)
    try:
        proof.step_up(request, password=form.cleaned_data["password"])
    except (NotAuthenticated, RateLimited) as error:
        return _refused(request, "access/step_up.html", form, next_, error)
    goes = _RedirectWithBody if carried_fields(request) else HttpResponseRedirect
    return goes(next_)


def safe_next(request: HttpRequest) -> str:
    """Where to go afterwards: an address of this site, or the start page."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    # A path from the root: a bare word is no address, and a relative one leads anywhere.
    return wanted if safe and wanted.startswith("/") else settings.LOGIN_REDIRECT_URL


def carried_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """What the interrupted form held, to be posted again after the password."""
    return [
        (name, str(value))
        for name, values in request.POST.lists()
        for value in values
        if name not in _NOT_CARRIED
    ]


def _refused(
    request: HttpRequest,
    template: str,
    form: Form,
    next_: str,
    error: NotAuthenticated | RateLimited,
) -> HttpResponse:
    form.add_error(None, error.detail)
    limited = isinstance(error, RateLimited)
    response = _page(request, template, form, next_, status=429 if limited else 401)
    if isinstance(error, RateLimited):
        response["Retry-After"] = f"{error.retry_after:.0f}"
    return response


def _page(
    request: HttpRequest, template: str, form: Form, next_: str, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "next": next_, "carried": carried_fields(request)}
    context["error"] = next(iter(form.non_field_errors()), "") if form.is_bound else ""
    return render(request, template, context, status=status)
