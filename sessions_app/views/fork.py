"""The fork dialog: what it would do, and the new session once it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError, StepUpRequired
from agentadmin.problems import row
from sessions_app.pages.act_dialog import MIN_REASON, SHORT_REASON
from sessions_app.pages.answers import refused_password, show_dialog
from sessions_app.pages.fork_dialog import REFUSED, ForkDialog
from sessions_app.pages.frame import is_fragment, tab_url
from sessions_app.policies import FORK
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.fork import fork_session

if TYPE_CHECKING:
    from django.http import HttpRequest

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentSession

MOST_DIGITS = 15


@requires(FORK)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def thread_fork(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Show what a fork would hold, or make it."""
    dialog = _dialog(request, actor_from_request(request), thread_id)
    if request.method == "POST":
        return _submit(request, dialog)
    dialog.rehearse()
    return show_dialog(request, dialog.shown())


def _dialog(request: HttpRequest, actor: Actor, thread_id: str) -> ForkDialog:
    thread = thread_detail(actor, thread_id, FORK)
    given = request.POST if request.method == "POST" else request.GET
    text = given.get("version", "")
    known = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return ForkDialog(
        actor,
        thread,
        int(text) if known else thread.version,
        given.get("session_id", ""),
        given.get("reason", ""),
    )


def _submit(request: HttpRequest, dialog: ForkDialog) -> HttpResponse:
    if len(dialog.reason.strip()) < MIN_REASON:
        return _again(request, dialog, 422, reason_error=SHORT_REASON)
    if request.POST.get("password"):
        if refused := refused_password(request):
            return _again(request, dialog, row(refused)[0], step_up_error=refused.detail)
        dialog.actor = actor_from_request(request)
    try:
        made = fork_session(actor=dialog.actor, fork=dialog.fork)
    except StepUpRequired as error:
        return _again(request, dialog, 403, step_up=True, step_up_error=error.detail)
    except AgentAdminError as error:
        if row(error)[0] not in REFUSED:
            raise
        dialog.refuse(error)
        return _again(request, dialog, row(error)[0])
    return _open(request, dialog, made)


def _again(request: HttpRequest, dialog: ForkDialog, status: int, **notes: object) -> HttpResponse:
    """The dialog with the draft in it, rehearsed on what is newest now."""
    kept = dict(dialog.notes)
    dialog.rehearse()
    dialog.notes |= kept | notes
    return show_dialog(request, dialog.shown(), status=status)


def _open(request: HttpRequest, dialog: ForkDialog, made: AgentSession) -> HttpResponse:
    """The new session's page says what it is; htmx follows a header, not a redirect."""
    name = dialog.thread.session.session_id
    messages.success(request, f"Forked from version {dialog.version} of {name}.")
    url = tab_url(session_threads(made)[0], "conversation")
    if is_fragment(request):
        return HttpResponse(headers={"HX-Redirect": url})
    return redirect(url)
