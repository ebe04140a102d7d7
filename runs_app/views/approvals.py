"""The inbox of questions to people, one question's card, and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError, AlreadyDecided
from agentadmin.problems import row
from runs_app.forms import RespondForm
from runs_app.pages.approval import Card, card_of
from runs_app.pages.inbox import inbox_rows, rule_text
from runs_app.policies import RESPOND
from runs_app.selectors.interactions import (
    decided_page,
    interaction_detail,
    interaction_page,
    open_count,
    rule_that_asked,
)
from runs_app.services.respond import respond_interaction
from runs_app.states import InteractionStatus
from sessions_app.pages.frame import is_fragment

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs_app.models import Interaction

CARD = "runs/_card.html"
DECIDED = "decided"


@requires(READ)
@require_safe
def approvals(request: HttpRequest) -> HttpResponse:
    """Everything that waits for a person, who waits longest first; or what was decided."""
    return _inbox(request, None)


@requires(READ)
@require_safe
def approval(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """One question among the others."""
    return _inbox(request, interaction_detail(actor_from_request(request), interaction_id))


@requires(READ)
@require_safe
def inbox_count(request: HttpRequest) -> HttpResponse:
    """How many questions wait, for the badge of an open page."""
    return JsonResponse({"approvals": open_count(actor_from_request(request))})


def _inbox(request: HttpRequest, chosen: Interaction | None) -> HttpResponse:
    actor = actor_from_request(request)
    cursor, decided = request.GET.get("cursor"), request.GET.get("show") == DECIDED
    page = (
        decided_page(actor, cursor=cursor)
        if decided
        else interaction_page(actor, status=InteractionStatus.PENDING, cursor=cursor)
    )
    first = chosen or next(iter(page.items), None)
    kept = {"show": DECIDED} if decided else {}
    older = urlencode(kept | {"cursor": page.next_cursor}) if page.next_cursor else ""
    context = {
        "nav": "approvals",
        "rows": inbox_rows(page.items, chosen),
        "waiting": open_count(actor),
        "decided": decided,
        "suffix": f"?{urlencode(kept)}" if kept else "",
        "chosen": first,
        "card": card_of(actor, first) if first else None,
        "rule": rule_text(rule_that_asked(first)) if first else "",
        "older_url": f"?{older}" if older else "",
        "newer_url": f"?{urlencode(kept)}" if cursor else "",
        "alone": True,
    }
    return render(request, "runs/approvals.html", context)


@requires(READ)
@require_POST
def respond(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """Approve, deny or answer; exactly one answer wins."""
    actor = actor_from_request(request)
    asked = interaction_detail(actor, interaction_id, RESPOND)
    form = RespondForm(request.POST)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        return _again(request, asked, 422, f"{field}: {errors[0]}")
    given: dict[str, Any] = {name: value or None for name, value in form.cleaned_data.items()}
    given["call_hash"] = form.cleaned_data["call_hash"]
    try:
        respond_interaction(actor=actor, interaction_id=interaction_id, **given)
    except AlreadyDecided as error:
        return _again(request, asked, 409, error.detail)
    except AgentAdminError as error:
        return _refused(request, asked, error)
    return _decided(request, asked)


def _refused(request: HttpRequest, asked: Interaction, error: AgentAdminError) -> HttpResponse:
    if row(error)[0] not in {400, 409, 422}:
        raise error
    path = getattr(error, "path", "")
    return _again(request, asked, row(error)[0], f"{path} {error.detail}".strip())


def _decided(request: HttpRequest, asked: Interaction) -> HttpResponse:
    asked.refresh_from_db(fields=["status", "decided_by", "decided_at", "reason"])
    if is_fragment(request):
        return _card(request, card_of(actor_from_request(request), asked), 200)
    messages.success(request, f"{asked.status.capitalize()}: {asked.tool}.")
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        return redirect(back)
    return redirect("thread_conversation", asked.thread_id)


def _again(request: HttpRequest, asked: Interaction, status: int, problem: str) -> HttpResponse:
    """The card with what is wrong, and what was written still in it."""
    asked.refresh_from_db(fields=["status", "decided_by", "decided_at", "reason"])
    card = card_of(actor_from_request(request), asked)
    card.error = problem
    card.draft = {name: request.POST.get(name, "") for name in ("reason", "answer")}
    return _card(request, card, status)


def _card(request: HttpRequest, card: Card, status: int) -> HttpResponse:
    context: dict[str, Any] = {"card": card, "nav": "approvals", "alone": "alone" in request.POST}
    template = CARD if is_fragment(request) else "runs/card_page.html"
    return render(request, template, context, status=status)
