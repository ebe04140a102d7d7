"""The dialogs that take something from an account, or give it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.dialogs import SHORT_REASON, leave, short_reason, show_dialog
from agentadmin.access.models import RoleAssignment
from agentadmin.access.proof import prove_again
from agentadmin.access.routes import requires
from agentadmin.access.selectors import user_detail
from agentadmin.access.services import MANAGE, renew_password, set_active, withdraw_role
from agentadmin.engine.errors import AgentAdminError, Conflict, NotFound, StepUpRequired
from agentadmin.problems import row

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

Act = dict[str, Any]
HINT = "This changes who may do what, so it needs a fresh sign-in."


@requires(MANAGE)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def user_withdraw(request: HttpRequest, user_id: int, role_id: int) -> HttpResponse:
    """Take one role from an account."""
    account = user_detail(actor_from_request(request), user_id)
    given = RoleAssignment.objects.filter(pk=role_id, user=account).first()
    if given is None:
        raise NotFound("The account does not have this role.")
    name = account.get_username()
    act: Act = {
        "title": f"Withdraw {given.label} from {name}",
        "lead": f"The role counts in {given.place}.",
        "button": f"Withdraw {given.label}",
        "leaves": [f"{name} is no longer {given.label} there, from the next request on."],
        "stays": ["The account and its other roles.", "What it has done, in the audit log."],
    }

    def do(reason: str) -> HttpResponse:
        withdraw_role(
            actor=actor_from_request(request),
            user=account,
            role=given.role,
            namespace=given.namespace,
            agent=given.agent,
            reason=reason,
        )
        return leave(request, _page(account), f"{name} is no longer {given.label} there.")

    return _answer(request, account, act, do)


@requires(MANAGE)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def user_active(request: HttpRequest, user_id: int) -> HttpResponse:
    """Shut an account out, or let it in again."""
    account = user_detail(actor_from_request(request), user_id)
    name, back = account.get_username(), not account.is_active
    leaves = ["Its browsers and tokens are refused.", "Its open sockets close within seconds."]
    act: Act = {
        "title": f"{'Activate' if back else 'Deactivate'} {name}",
        "lead": "Its roles and tokens stay as they are.",
        "button": f"{'Activate' if back else 'Deactivate'} {name}",
        "leaves": ["Its password and its tokens count again."] if back else leaves,
        "stays": ["Its roles.", "What it has done, in the audit log."],
    }

    def do(reason: str) -> HttpResponse:
        set_active(actor=actor_from_request(request), user=account, active=back, reason=reason)
        said = f"{name} is {'active again' if back else 'shut out'}."
        return leave(request, _page(account), said)

    return _answer(request, account, act, do)


@requires(MANAGE)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def user_password(request: HttpRequest, user_id: int) -> HttpResponse:
    """Make a new password for somebody who lost theirs; it is shown once."""
    account = user_detail(actor_from_request(request), user_id)
    name = account.get_username()
    act: Act = {
        "title": f"Make a new password for {name}",
        "lead": "It is shown to you once, to be handed on.",
        "button": "Make a new password",
        "leaves": ["The present password counts no more; every browser is signed out."],
        "stays": ["Its roles and its tokens."],
        "plain": True,
    }

    @sensitive_variables("password")
    def do(reason: str) -> HttpResponse:
        password = renew_password(actor=actor_from_request(request), user=account, reason=reason)
        context = {"nav": "users", "account": account, "password": password}
        return render(request, "access/password_made.html", context, status=201)

    return _answer(request, account, act, do)


def _answer(
    request: HttpRequest, account: User, act: Act, do: Callable[[str], HttpResponse]
) -> HttpResponse:
    """The dialog, or what became of it."""
    if request.method != "POST":
        return _show(request, account, act)
    if short_reason(request):
        return _show(request, account, act, status=422, reason_error=SHORT_REASON)
    if refused := prove_again(request):
        return _show(request, account, act, status=403, step_up=True, step_up_error=refused.detail)
    try:
        return do(request.POST["reason"].strip())
    except StepUpRequired as error:
        return _show(request, account, act, status=403, step_up=True, step_up_error=error.detail)
    except Conflict as error:
        said = {"title": "Not done.", "text": error.detail}
        return _show(request, account, act, status=_status(error), error=said)


def _status(error: AgentAdminError) -> int:
    return row(error)[0]


def _show(
    request: HttpRequest, account: User, act: Act, *, status: int = 200, **notes: Any
) -> HttpResponse:
    whole = {
        "url": request.path,
        "cancel_url": _page(account),
        "cancel_label": "Leave it as it is",
        "danger": True,
        "reason": request.POST.get("reason", ""),
        "version": None,
        "step_up": not actor_from_request(request).is_fresh,
        "step_up_hint": HINT,
        **act,
        **notes,
    }
    return show_dialog(request, whole, "users", status=status)


def _page(account: User) -> str:
    return reverse("user", args=[account.pk])
