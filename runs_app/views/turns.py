"""The Turns page, and the dialogs that pause, resume and steer a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from runs_app.pages.dialogs import answer
from runs_app.pages.holding import Telling, pausing, resuming
from runs_app.pages.turn_rows import chips, turn_rows
from runs_app.policies import STEER
from runs_app.selectors.turn_list import OPEN, open_by_state, visible_turns
from runs_app.selectors.turns import turn_detail

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

METHODS = ["GET", "HEAD", "POST"]
ALL = "all"


@requires(READ)
@require_safe
def turns(request: HttpRequest) -> HttpResponse:
    """The turns that the reader sees: those that have not ended, or of one state."""
    actor = actor_from_request(request)
    status, agent_id = request.GET.get("status") or OPEN, request.GET.get("agent_id") or None
    cursor = request.GET.get("cursor")
    wanted = None if status == ALL else status
    page = visible_turns(actor, status=wanted, agent_id=agent_id, cursor=cursor)
    query = {"status": status} | ({"agent_id": agent_id} if agent_id else {})
    older = urlencode(query | {"cursor": page.next_cursor}) if page.next_cursor else ""
    context = {
        "nav": "turns",
        "rows": turn_rows(actor, page.items),
        "chips": chips(query, open_by_state(actor)),
        "status": status,
        "agent_id": agent_id,
        "older_url": f"?{older}" if older else "",
        "newer_url": f"?{urlencode(query)}" if cursor else "",
        "is_filtered": status != OPEN or agent_id is not None,
    }
    return render(request, "runs/turn_list.html", context)


@requires(READ)
@require_http_methods(METHODS)
def turn_pause(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Hold a turn, with a reason."""
    actor = actor_from_request(request)
    return answer(request, pausing(actor, turn_detail(actor, turn_id, STEER), request.POST))


@requires(READ)
@require_http_methods(METHODS)
def turn_resume(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Let a paused turn go on, with a reason."""
    actor = actor_from_request(request)
    return answer(request, resuming(actor, turn_detail(actor, turn_id, STEER), request.POST))


@requires(READ)
@require_http_methods(METHODS)
def turn_steer(request: HttpRequest, turn_id: str) -> HttpResponse:
    """Tell a turn something."""
    actor = actor_from_request(request)
    return answer(request, Telling(actor, turn_detail(actor, turn_id, STEER), request.POST))
