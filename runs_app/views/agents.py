"""The pages of agents: list, one with its versions, the form, and retiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import AgentAdminError, InvalidInput, StaleVersion
from agentadmin.problems import row
from runs_app.agent_form import AgentForm, filled
from runs_app.definitions.checks import InvalidDefinition
from runs_app.pages.agents import comparison, in_words, option_rows, retire_dialog, tool_rows
from runs_app.pages.erasure import is_long_enough
from runs_app.policies import MANAGE_AGENTS, READ_AGENTS
from runs_app.profiles import PROFILES
from runs_app.selectors.agents import DEFINED, agent_detail, agent_page, version_page
from runs_app.services.agents import create_agent, retire_agent, update_agent
from sessions_app.pages.answers import show_dialog
from sessions_app.pages.frame import is_fragment
from sessions_app.policies import CREATE

if TYPE_CHECKING:
    from django.http import HttpRequest

    from agentadmin.access.actor import Actor
    from runs_app.models import AgentDefinition
    from runs_app.selectors.agents import AgentView

PROVIDERS = ("offline:demo", "openai:", "anthropic:")


@requires(READ_AGENTS)
@require_safe
def agents(request: HttpRequest) -> HttpResponse:
    """Every agent that the reader may know, by id."""
    actor, cursor = actor_from_request(request), request.GET.get("cursor")
    page = agent_page(actor, cursor=cursor)
    context = {
        "nav": "agents",
        "page": page,
        "may_manage": actor.may_everywhere(MANAGE_AGENTS),
        "next": page.next_cursor,
        "newer_url": "?" if cursor else "",
    }
    return render(request, "runs/agents.html", context)


@requires(READ_AGENTS)
@require_safe
def agent(request: HttpRequest, agent_id: str) -> HttpResponse:
    """One agent: what it says, what it may do, its versions, and two of them compared."""
    actor = actor_from_request(request)
    view = agent_detail(actor, agent_id, _version(request, "version"))
    newest = agent_detail(actor, agent_id) if not view.row.is_current else view
    versions = version_page(actor, agent_id, cursor=request.GET.get("cursor"))
    context = {
        "nav": "agents",
        "view": view,
        "newest": newest,
        "said": view.definition,
        "options": option_rows(view.definition),
        "tools": tool_rows(view.definition),
        "words": in_words(view.definition) if view.definition else [],
        "versions": versions,
        "compared": _compared(request, actor, agent_id),
        "may_manage": actor.may_everywhere(MANAGE_AGENTS) and newest.source == DEFINED,
        "may_try": actor.may(CREATE, None, agent_id) and not newest.row.is_retired,
    }
    return render(request, "runs/agent.html", context)


def _compared(request: HttpRequest, actor: Actor, agent_id: str) -> dict[str, Any] | None:
    before, after = _version(request, "from"), _version(request, "to")
    if before is None or after is None:
        return None
    return comparison(agent_detail(actor, agent_id, before), agent_detail(actor, agent_id, after))


def _version(request: HttpRequest, name: str) -> int | None:
    """A version from the address; what is none names none."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@requires(MANAGE_AGENTS)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_new(request: HttpRequest) -> HttpResponse:
    """Ask for everything that an agent is, and make its first version."""
    actor = actor_from_request(request)
    actor.require_everywhere(MANAGE_AGENTS)
    if request.method != "POST":
        id_ = request.GET.get("agent_id", "")
        return _form(request, AgentForm(initial={"agent_id": id_} if id_ else None))
    form = AgentForm(request.POST, tools=PROFILES.tools())
    if not form.is_valid():
        return _form(request, form, status=422)
    try:
        made = create_agent(
            actor=actor,
            agent_id=form.cleaned_data["agent_id"],
            given=form.given(),
            reason=form.cleaned_data["reason"],
        )
    except AgentAdminError as error:
        return _refused(request, form, error)
    return _to(made)


@requires(MANAGE_AGENTS)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_edit(request: HttpRequest, agent_id: str) -> HttpResponse:
    """The next version of an agent, beginning with the fields of the newest."""
    actor = actor_from_request(request)
    actor.require_everywhere(MANAGE_AGENTS)
    view = agent_detail(actor, agent_id)
    if request.method != "POST":
        version = {"expected_version": view.row.version, "agent_id": agent_id}
        return _form(request, AgentForm(initial=filled(view.definition) | version), view)
    form = AgentForm(request.POST, tools=_names(view))
    if not form.is_valid():
        return _form(request, form, view, status=422)
    try:
        made = update_agent(
            actor=actor,
            agent_id=agent_id,
            given=form.given(view.definition),
            reason=form.cleaned_data["reason"],
            expected_version=form.cleaned_data["expected_version"],
        )
    except AgentAdminError as error:
        return _refused(request, form, error, view)
    return _to(made)


@requires(MANAGE_AGENTS)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_retire(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Ask why, then take the agent out of use."""
    actor = actor_from_request(request)
    actor.require_everywhere(MANAGE_AGENTS)
    view = agent_detail(actor, agent_id)
    asked, reason = request.method == "POST", request.POST.get("reason", "")
    dialog = retire_dialog(view, reason, asked=asked)
    if not asked:
        return show_dialog(request, dialog)
    if not is_long_enough(reason):
        return show_dialog(request, dialog, status=422)
    try:
        made = retire_agent(actor=actor, agent_id=agent_id, reason=reason)
    except AgentAdminError as error:
        if row(error)[0] not in {409, 422}:
            raise
        dialog["error"] = {"title": f"{row(error)[1]}.", "text": error.detail}
        return show_dialog(request, dialog, status=row(error)[0])
    return _to(made, fragment=is_fragment(request))


def _to(made: AgentDefinition, *, fragment: bool = False) -> HttpResponse:
    """The agent's page; htmx follows a header, since a redirect would land in the dialog."""
    url = reverse("agent", args=[made.agent_id])
    return HttpResponse(headers={"HX-Redirect": url}) if fragment else redirect(url)


def _refused(
    request: HttpRequest, form: AgentForm, error: AgentAdminError, view: AgentView | None = None
) -> HttpResponse:
    """What is wrong stands at its field; a draft that came too late is kept."""
    status = row(error)[0]
    if status not in {400, 409, 422}:
        raise error
    if isinstance(error, InvalidDefinition):
        form.refuse(error.faults)
    elif isinstance(error, InvalidInput):
        form.refuse([error])
    elif isinstance(error, StaleVersion):
        return _form(request, form, view, status=status, stale=error)
    else:
        form.add_error(None, error.detail)
    return _form(request, form, view, status=status)


def _form(
    request: HttpRequest,
    form: AgentForm,
    view: AgentView | None = None,
    *,
    status: int = 200,
    stale: StaleVersion | None = None,
) -> HttpResponse:
    chosen = form["tools"].value() or []
    version = stale.current if stale else form["expected_version"].value()
    context = {
        "nav": "agents",
        "form": form,
        "view": view,
        "tools": [(name, tool, name in chosen) for name, tool in _catalogue(view)],
        "providers": PROVIDERS,
        "stale": stale,
        "version": version,
    }
    return render(request, "runs/agent_form.html", context, status=status)


def _catalogue(view: AgentView | None) -> list[tuple[str, Any]]:
    """Every tool that may be chosen, and those of the agent that are gone from here."""
    known = PROFILES.tools()
    used = view.definition.get("tools", ()) if view else ()
    return [*known.items(), *((name, None) for name in used if name not in known)]


def _names(view: AgentView) -> list[str]:
    return [name for name, _ in _catalogue(view)]
