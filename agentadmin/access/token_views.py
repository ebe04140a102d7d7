"""The pages of API tokens: the list, the form that makes one, and the dialog that revokes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.dialogs import SHORT_REASON, leave, short_reason, show_dialog
from agentadmin.access.forms import TokenForm
from agentadmin.access.permissions import PERMISSIONS
from agentadmin.access.proof import prove_again
from agentadmin.access.routes import requires
from agentadmin.access.schemas import token_state
from agentadmin.access.selectors import refuse_bound, token_detail, token_page
from agentadmin.access.tokens import GUARDED, create_token, revoke_token, scopes_of
from agentadmin.engine.errors import InvalidInput, StepUpRequired

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from agentadmin.access.models import ApiToken

OWN = "tokens:own"


@requires(OWN)
@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    """One's own tokens; with `tokens:manage` everybody's."""
    actor = actor_from_request(request)
    cursor = request.GET.get("cursor")
    page = token_page(actor, cursor=cursor)
    context = {
        "nav": "tokens",
        "rows": [_row(token) for token in page.items],
        "everybody": actor.may_everywhere("tokens:manage"),
        "older_url": f"?cursor={page.next_cursor}" if page.next_cursor else "",
        "newer_url": "?" if cursor else "",
    }
    return render(request, "access/tokens.html", context)


@requires(OWN)
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def token_new(request: HttpRequest) -> HttpResponse:
    """Ask what the token is for; show its secret once."""
    refuse_bound(actor_from_request(request))
    if request.method != "POST":
        return _form(request, TokenForm(initial={"scopes": ["sessions:read"]}))
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=422)
    if refused := prove_again(request):
        form.add_error("password", refused.detail)
        return _form(request, form, status=403)
    return _make(request, form)


@requires(OWN)
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """Say what ends with the token, then end it."""
    actor = actor_from_request(request)
    token = token_detail(actor, token_id)
    if request.method != "POST":
        return show_dialog(request, _dialog(token), "tokens")
    if short_reason(request):
        act = _dialog(token, reason=request.POST.get("reason", ""), reason_error=SHORT_REASON)
        return show_dialog(request, act, "tokens", status=422)
    revoke_token(actor=actor, token_id=token_id, reason=request.POST["reason"].strip())
    return leave(request, reverse("tokens"), f"The token {token.name} counts for nothing now.")


@sensitive_variables("made")
def _make(request: HttpRequest, form: TokenForm) -> HttpResponse:
    given = form.cleaned_data
    actor = actor_from_request(request)
    try:
        made = create_token(
            actor=actor,
            user=get_user_model().objects.get(pk=int(actor.id)),
            name=given["name"],
            scopes=given["scopes"],
            days=given["days"],
            bound_user_id=given["bound_user_id"] or None,
        )
    except InvalidInput as error:
        form.add_error(error.path if error.path in form.fields else None, error.detail)
        return _form(request, form, status=422)
    except StepUpRequired as error:
        form.add_error("password", error.detail)
        return _form(request, form, status=403)
    context = {"nav": "tokens", "token": made.token, "secret": made.secret}
    return render(request, "access/token_made.html", context, status=201)


def _form(request: HttpRequest, form: TokenForm, *, status: int = 200) -> HttpResponse:
    actor = actor_from_request(request)
    chosen = set(form["scopes"].value() or ())
    context = {
        "nav": "tokens",
        "form": form,
        "scopes": [
            (name, label, name in chosen, name in GUARDED)
            for name, label in PERMISSIONS.items()
            if name in actor.permissions
        ],
        "ask_password": not actor.is_fresh and bool(GUARDED & actor.permissions),
    }
    return render(request, "access/token_new.html", context, status=status)


def _row(token: ApiToken) -> dict[str, Any]:
    return {"token": token, "scopes": sorted(scopes_of(token)), "state": token_state(token)}


def _dialog(token: ApiToken, **notes: str) -> dict[str, Any]:
    return {
        "url": reverse("token_revoke", args=[token.pk]),
        "cancel_url": reverse("tokens"),
        "cancel_label": "Keep the token",
        "title": f"Revoke the token {token.name}",
        "lead": f"It begins with {token.prefix} and belongs to {token.user.get_username()}.",
        "button": f"Revoke {token.name}",
        "icon": "key",
        "danger": True,
        "leaves": [
            "Whatever sends this token is refused from now on.",
            "Its open sockets and event streams close.",
        ],
        "stays": ["What it has done, and the audit entries of it."],
        "templates": ["It is no longer needed", "It may have leaked"],
        "version": None,
        **notes,
    }
