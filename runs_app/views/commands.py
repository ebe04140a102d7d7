"""Commands from a thread's page: say something, interrupt, cancel, record unknown outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError, SessionErased
from agentadmin.engine.identity import new_id
from agentadmin.problems import row
from runs_app.forms import MessageForm
from runs_app.pages.conversation import head_turn
from runs_app.pages.dialogs import answer
from runs_app.pages.now import now_of, reconcile_form
from runs_app.pages.stopping import cancelling, interrupting
from runs_app.policies import CANCEL, INTERRUPT, RECONCILE, SUBMIT
from runs_app.selectors.turns import turn_detail
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.submit import submit_turn
from sessions_app.pages.answers import Notice, show_done
from sessions_app.pages.frame import is_fragment
from sessions_app.selectors.threads import thread_detail

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs_app.services.receipts import Receipt
    from sessions_app.models import AgentThread

COMPOSER = "runs/_composer.html"


@requires(READ)
@require_POST
def thread_message(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Queue one turn with what was written."""
    actor = actor_from_request(request)
    try:
        thread = thread_detail(actor, thread_id, SUBMIT)
    except SessionErased as error:
        return _composer_refused(request, thread_detail(actor, thread_id), error)
    form = MessageForm(request.POST)
    if not form.is_valid():
        return _composer(request, thread, 422, error=str(next(iter(form.errors.values()))[0]))
    given = form.cleaned_data
    try:
        key = given["request_id"] or None
        receipt = submit_turn(actor=actor, thread=thread, input=given["text"], request_id=key)
    except AgentAdminError as error:
        return _composer_refused(request, thread, error)
    return _composer(request, thread, 200, said=_said(receipt), turn_id=receipt.turn_id or "")


def _said(receipt: Receipt) -> str:
    if receipt.duplicate:
        return "This message was accepted before; it is not doubled."
    if receipt.position:
        return f"Accepted, {receipt.position} ahead of it."
    return "Accepted; the agent begins."


def _composer_refused(
    request: HttpRequest, thread: AgentThread, error: AgentAdminError
) -> HttpResponse:
    if row(error)[0] not in {409, 413, 422}:
        raise error
    return _composer(request, thread, row(error)[0], error=error.detail)


def _composer(
    request: HttpRequest,
    thread: AgentThread,
    status: int,
    *,
    said: str = "",
    turn_id: str = "",
    error: str = "",
) -> HttpResponse:
    """The message box again: empty once its message was taken, else with the draft in it."""
    if not is_fragment(request) and said:
        messages.success(request, said)
        return redirect("thread_conversation", thread.id)
    context = {
        "thread": thread,
        "may_submit": True,
        "request_id": new_id(),
        "said": said,
        "said_of": turn_id,
        "error": error,
        "draft": "" if said else request.POST.get("text", ""),
    }
    template = COMPOSER if is_fragment(request) else "runs/composer_page.html"
    return render(request, template, context, status=status)


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def thread_interrupt(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Interrupt what runs on a thread, with a reason and perhaps a message to the agent."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id, INTERRUPT)
    return answer(request, interrupting(actor, thread, request.POST))


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def turn_cancel(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Give a turn up, with a reason."""
    actor = actor_from_request(request)
    turn = turn_detail(actor, turn_id, CANCEL)
    return answer(request, cancelling(actor, turn, request.POST))


@requires(READ)
@require_POST
def thread_reconcile(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Record what became of the calls whose outcome is unknown."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id, RECONCILE)
    form = reconcile_form(head_turn(thread), request.POST)
    if not form.is_valid():
        return _now(request, thread, 422, form=form, problem="Fill in what is marked.")
    try:
        reason = form.cleaned_data["reason"]
        reconcile_tools(actor=actor, thread=thread, results=form.results(), reason=reason)
    except AgentAdminError as error:
        return _reconcile_refused(request, thread, error)
    return show_done(request, thread, Notice("good", "Recorded.", "The turn goes on."))


def _reconcile_refused(
    request: HttpRequest, thread: AgentThread, error: AgentAdminError
) -> HttpResponse:
    if row(error)[0] not in {400, 409, 422}:
        raise error
    return _now(request, thread, row(error)[0], problem=error.detail)


def _now(request: HttpRequest, thread: AgentThread, status: int, **more: Any) -> HttpResponse:
    context = now_of(actor_from_request(request), thread) | {"thread": thread, **more}
    template = "runs/_now.html" if is_fragment(request) else "runs/now_page.html"
    return render(request, template, context, status=status)
