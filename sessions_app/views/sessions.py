"""The sessions list, and the form that makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError, SessionExists
from agentadmin.problems import row
from sessions_app.forms import NewSessionForm
from sessions_app.journal.configured import agent_spec
from sessions_app.pages.listing import chips, filters_of, query_of
from sessions_app.policies import CREATE, IMPORT
from sessions_app.selectors.listing import session_rows, status_counts
from sessions_app.services.sessions import NewSession, create_session

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

UNKNOWN_AGENT = (
    "No agent of this name is defined here: every turn would wait until one is. "
    "Change the name, or create the session all the same."
)


@requires(READ)
@require_safe
def sessions(request: HttpRequest) -> HttpResponse:
    """Every session that the reader sees, the most recently changed first."""
    actor = actor_from_request(request)
    query = query_of(request.GET)
    page = session_rows(actor, filters_of(query), request.GET.get("cursor"))
    older = urlencode(query | {"cursor": page.next_cursor}) if page.next_cursor else ""
    context = {
        "nav": "sessions",
        "page": page,
        "older_url": f"?{older}" if older else "",
        "newer_url": f"?{urlencode(query)}" if request.GET.get("cursor") else "",
        "chips": chips(query, status_counts(actor)),
        "may_create": actor.may(CREATE),
        "may_import": actor.may(IMPORT),
        **query,
    }
    return render(request, "sessions/list.html", context)


@requires(CREATE)
@require_http_methods(["GET", "HEAD", "POST"])
def session_new(request: HttpRequest) -> HttpResponse:
    """Ask for an identity and make the session."""
    if request.method != "POST":
        return _form(request, NewSessionForm(initial=request.GET.dict() or None))
    form = NewSessionForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=422)
    given = {name: value for name, value in form.cleaned_data.items() if value}
    if unknown := _unknown_agent(request, form):
        form.add_error("agent_id", UNKNOWN_AGENT)
        return _form(request, form, status=422, unknown=unknown)
    try:
        made = create_session(actor=actor_from_request(request), new=NewSession(**given))
    except AgentAdminError as error:
        return _refused(request, form, error)
    return redirect("session", made.id)


def _unknown_agent(request: HttpRequest, form: NewSessionForm) -> str:
    """An agent that nobody has defined here, until it is confirmed: it may be a typing error."""
    agent_id: str = form.cleaned_data["agent_id"]
    if request.POST.get("confirmed_agent") == agent_id or agent_spec(agent_id) is not None:
        return ""
    return agent_id


def _refused(request: HttpRequest, form: NewSessionForm, error: AgentAdminError) -> HttpResponse:
    """What is wrong stands at its field."""
    status = row(error)[0]
    if status not in {409, 422}:
        raise error
    field = getattr(error, "path", "") or "session_id"
    form.add_error(field if field in form.fields else None, error.detail)
    taken = error.session_id if isinstance(error, SessionExists) else ""
    return _form(request, form, status=status, taken=taken)


def _form(
    request: HttpRequest,
    form: NewSessionForm,
    *,
    status: int = 200,
    taken: str = "",
    unknown: str = "",
) -> HttpResponse:
    context = {
        "nav": "sessions",
        "form": form,
        "unknown_agent": unknown,
        "taken_url": reverse("session", args=[taken]) if taken else "",
    }
    return render(request, "sessions/new.html", context, status=status)
