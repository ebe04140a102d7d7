"""The pages of accounts: who there is, who may what where, and every change of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.dialogs import leave
from agentadmin.access.forms import NewUserForm, RoleForm
from agentadmin.access.permissions import ROLES
from agentadmin.access.proof import prove_again
from agentadmin.access.routes import requires
from agentadmin.access.selectors import roles_of, user_detail, user_page
from agentadmin.access.services import MANAGE, create_user, grant_role, new_password
from agentadmin.engine.errors import AgentAdminError, Conflict, InvalidInput, StepUpRequired
from agentadmin.problems import row

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

NAV = "users"


@requires(MANAGE)
@require_safe
def users(request: HttpRequest) -> HttpResponse:
    """Every account with its roles."""
    q, cursor = request.GET.get("q", "")[:150], request.GET.get("cursor")
    page = user_page(actor_from_request(request), q=q, cursor=cursor)
    rows = [(user, user.role_assignments.all()) for user in page.items]
    more = urlencode({"q": q, "cursor": page.next_cursor}) if page.next_cursor else ""
    context = {
        "nav": NAV,
        "rows": rows,
        "wanted": q,
        "older_url": f"?{more}" if more else "",
        "newer_url": f"?{urlencode({'q': q})}" if cursor else "",
    }
    return render(request, "access/users.html", context)


@requires(MANAGE)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def user_new(request: HttpRequest) -> HttpResponse:
    """Ask for a name and a first role; show the password once."""
    actor_from_request(request).require_everywhere(MANAGE)
    form = NewUserForm(request.POST) if request.method == "POST" else NewUserForm()
    if not form.is_bound or not form.is_valid():
        return _form(request, form)
    if refused := prove_again(request):
        return _again(request, form, refused, "password")
    return _create(request, form)


@requires(MANAGE)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def user(request: HttpRequest, user_id: int) -> HttpResponse:
    """One account: its roles, the form that grants another, and what else can be done to it."""
    found = user_detail(actor_from_request(request), user_id)
    form = RoleForm(request.POST) if request.method == "POST" else RoleForm()
    if not form.is_bound or not form.is_valid():
        return _account(request, found, form)
    if refused := prove_again(request):
        return _again(request, form, refused, "password", found)
    given = _role(form)
    try:
        grant_role(actor=actor_from_request(request), user=found, **given)
    except (InvalidInput, StepUpRequired) as error:
        return _again(request, form, error, "password", found)
    said = f"{found.get_username()} is {ROLES[given['role']].label} there from now on."
    return leave(request, reverse("user", args=[found.pk]), said)


@sensitive_variables("password")
def _create(request: HttpRequest, form: NewUserForm) -> HttpResponse:
    password = new_password()
    name = form.cleaned_data["name"]
    try:
        made = create_user(
            actor=actor_from_request(request), name=name, password=password, **_role(form)
        )
    except (InvalidInput, Conflict, StepUpRequired) as error:
        taken = "name" if isinstance(error, Conflict) else "password"
        return _again(request, form, error, taken)
    context = {"nav": NAV, "account": made, "password": password}
    return render(request, "access/password_made.html", context, status=201)


def _role(form: RoleForm) -> dict[str, Any]:
    names = ("role", "namespace", "agent", "reason")
    return {name: form.cleaned_data[name] for name in names}


def _again(
    request: HttpRequest,
    form: RoleForm,
    error: AgentAdminError,
    field: str,
    account: User | None = None,
) -> HttpResponse:
    """The form as it came, with what is wrong at its field."""
    path = getattr(error, "path", None)
    form.add_error(path if path in form.fields else field, error.detail)
    status = row(error)[0]
    # Nobody is asked to sign in here: it is the password in the form that is wrong.
    status = 403 if status == 401 else status
    if account is None:
        return _form(request, form, status=status)
    return _account(request, account, form, status=status)


def _form(request: HttpRequest, form: RoleForm, *, status: int = 200) -> HttpResponse:
    context = {"nav": NAV, "form": form, "roles": ROLES, "ask_password": _stale(request)}
    wrong = form.is_bound and status == 200
    return render(request, "access/user_new.html", context, status=422 if wrong else status)


def _account(
    request: HttpRequest, account: User, form: RoleForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "nav": NAV,
        "account": account,
        "assignments": roles_of(str(account.pk)),
        "form": form,
        "roles": ROLES,
        "ask_password": _stale(request),
    }
    wrong = form.is_bound and status == 200
    return render(request, "access/user.html", context, status=422 if wrong else status)


def _stale(request: HttpRequest) -> bool:
    return not actor_from_request(request).is_fresh
