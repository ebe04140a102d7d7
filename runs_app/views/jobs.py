"""Jobs: the list, one with its progress, and the dialogs that begin and stop an erasure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.state import codec
from agentadmin.problems import row
from runs_app.pages.erasure import erase_dialog, is_long_enough, stop_dialog
from runs_app.services.erasure import request_erasure, stop_job
from sessions_app.pages.answers import show_dialog
from sessions_app.pages.frame import is_fragment
from sessions_app.policies import ERASE, require_session
from sessions_app.selectors.jobs import job_detail, job_page
from sessions_app.selectors.sessions import session_detail, session_threads
from sessions_app.states import OPEN_JOBS, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    from agentadmin.access.actor import Actor
    from sessions_app.models import Job


@requires(READ)
@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """Every job on a session that the reader sees, the newest first."""
    state, cursor = request.GET.get("state"), request.GET.get("cursor")
    page = job_page(actor_from_request(request), state=state, cursor=cursor)
    kept = f"state={state}&" if state else ""
    context = {
        "nav": "jobs",
        "page": page,
        "state": state,
        "states": list(JobState),
        "older_url": f"?{kept}cursor={page.next_cursor}" if page.next_cursor else "",
        "newer_url": f"?{kept}" if cursor else "",
    }
    return render(request, "runs/jobs.html", context)


@requires(READ)
@require_safe
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """One job: how far it is or, at its end, its certificate."""
    actor = actor_from_request(request)
    context = _job(actor, job_detail(actor, job_id))
    template = "runs/_job.html" if is_fragment(request) else "runs/job.html"
    return render(request, template, context)


def _job(actor: Actor, found: Job) -> dict[str, Any]:
    threads = session_threads(found.session)
    return {
        "nav": "jobs",
        "job": found,
        "threads": threads,
        "is_open": found.state in OPEN_JOBS,
        "may_stop": found.state in OPEN_JOBS
        and found.total == 0
        and actor.may(ERASE, found.session.namespace, found.session.agent_id),
        "certificate": codec.pretty(codec.loads(found.result)) if found.result != "{}" else "",
    }


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def session_erase(request: HttpRequest, session_id: str) -> HttpResponse:
    """Ask why, then have a worker erase the session."""
    actor = actor_from_request(request)
    session = session_detail(actor, session_id, READ)
    require_session(actor, ERASE, session)
    reason = request.POST.get("reason", "")
    dialog = erase_dialog(session, reason, asked=request.method == "POST")
    return _decide(
        request,
        dialog,
        lambda: request_erasure(actor=actor, session_id=session_id, reason=reason),
    )


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def job_stop(request: HttpRequest, job_id: str) -> HttpResponse:
    """Ask why, then stop a job that has changed nothing yet."""
    actor = actor_from_request(request)
    found = job_detail(actor, job_id, ERASE)
    reason = request.POST.get("reason", "")
    dialog = stop_dialog(found, reason, asked=request.method == "POST")
    return _decide(request, dialog, lambda: stop_job(actor=actor, job_id=job_id, reason=reason))


def _decide(request: HttpRequest, dialog: dict[str, Any], act: Callable[[], Job]) -> HttpResponse:
    if request.method != "POST":
        return show_dialog(request, dialog)
    if not is_long_enough(dialog["reason"]):
        return show_dialog(request, dialog, status=422)
    try:
        found = act()
    except AgentAdminError as error:
        if row(error)[0] not in {409, 422}:
            raise
        dialog["error"] = {"title": f"{row(error)[1]}.", "text": error.detail}
        return show_dialog(request, dialog, status=row(error)[0])
    return _go(request, reverse("job", args=[found.id]))


def _go(request: HttpRequest, url: str) -> HttpResponse:
    """The job's own page; htmx follows a header, since a redirect would land in the dialog."""
    if is_fragment(request):
        return HttpResponse(headers={"HX-Redirect": url})
    return redirect(url)
