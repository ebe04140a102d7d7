"""The Plan & tasks tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import DecodeError, StateUnreadable
from sessions_app.pages.frame import thread_page
from sessions_app.pages.plan import plan_page
from sessions_app.policies import lacking, may_thread
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

TEMPLATE = "sessions/plan.html"
EDIT = "sessions:edit"


@requires(READ)
@require_safe
def thread_plan(request: HttpRequest, thread_id: str) -> HttpResponse:
    """What the agent plans and has to do, and which of its tools it is offered."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "plan")
    may = may_thread(actor, EDIT, thread)
    try:
        shown = plan_page(thread, state_at(thread).state)
    except (StateUnreadable, DecodeError) as error:
        return thread_page(request, thread, "plan", TEMPLATE, unreadable=str(error))
    context = {"shown": shown, "may_edit": may, "missing": lacking(thread, EDIT)}
    return thread_page(request, thread, "plan", TEMPLATE, **context)
