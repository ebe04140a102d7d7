"""The dialogs behind a question's card: allow with a rule, allow with edited arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import (
    AgentAdminError,
    StepUpRequired,
)
from agentadmin.problems import row
from runs_app.pages.allowing import Allowing
from runs_app.policies import RESPOND
from runs_app.selectors.interactions import interaction_detail
from sessions_app.pages.answers import refused_password, show_dialog, show_done

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

METHODS = ["GET", "HEAD", "POST"]


@requires(READ)
@sensitive_post_parameters("password")
@require_http_methods(METHODS)
def allow_rule(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """Approve, and accept the suggested rules."""
    return _allow(request, interaction_id, "rule")


@requires(READ)
@require_http_methods(METHODS)
def allow_once(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """Approve exactly this call, after a second look."""
    return _allow(request, interaction_id, "once")


@requires(READ)
@require_http_methods(METHODS)
def allow_edited(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """Approve with other arguments."""
    return _allow(request, interaction_id, "edited")


def _allow(request: HttpRequest, interaction_id: str, how: str) -> HttpResponse:
    actor = actor_from_request(request)
    asked = interaction_detail(actor, interaction_id, RESPOND)
    dialog = Allowing(actor, asked, how, request.POST)
    if request.method != "POST":
        return show_dialog(request, dialog.shown())
    if problem := dialog.problem:
        return _again(request, dialog, 422, **problem)
    if request.POST.get("password") and (refused := _prove(request, dialog)):
        return refused
    return _do(request, dialog)


def _prove(request: HttpRequest, dialog: Allowing) -> HttpResponse | None:
    if refused := refused_password(request):
        return _again(request, dialog, row(refused)[0], step_up_error=refused.detail)
    dialog.actor = actor_from_request(request)
    return None


def _do(request: HttpRequest, dialog: Allowing) -> HttpResponse:
    try:
        notice = dialog.do()
    except StepUpRequired as error:
        return _again(request, dialog, 403, step_up=True, step_up_error=error.detail)
    except AgentAdminError as error:
        if row(error)[0] not in {400, 409, 422}:
            raise
        said = {"title": f"{row(error)[1]}.", "text": error.detail}
        return _again(request, dialog, row(error)[0], error=said)
    return show_done(request, dialog.asked.thread, notice)


def _again(request: HttpRequest, dialog: Allowing, status: int, **notes: object) -> HttpResponse:
    dialog.notes |= notes
    return show_dialog(request, dialog.shown(), status=status)
