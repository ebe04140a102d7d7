"""How far a control has come, polled in place until it is final."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from sessions_app.pages.frame import is_fragment, tab_url
from sessions_app.pages.steps import shown_control
from sessions_app.selectors.controls import control_detail

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@requires(READ)
@require_safe
def control(request: HttpRequest, control_id: str) -> HttpResponse:
    """One control's stepper; its own address leads to its thread."""
    found = control_detail(actor_from_request(request), control_id)
    if not is_fragment(request):
        return redirect(tab_url(found.thread, "conversation"))
    return render(request, "sessions/_control.html", {"shown": shown_control(found)})
