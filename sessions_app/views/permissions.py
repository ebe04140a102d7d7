"""The Permissions tab: mode, rules in order of precedence, directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import DecodeError, StateUnreadable
from sessions_app.pages.frame import thread_page
from sessions_app.pages.rules import MODES, rule_count, step_groups
from sessions_app.policies import lacking, may_thread
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from sessions_app.models import AgentThread

TEMPLATE = "sessions/permissions.html"
EDIT = "permissions:edit"


@requires(READ)
@require_safe
def thread_permissions(request: HttpRequest, thread_id: str) -> HttpResponse:
    """What the agent may do on this thread, and which step would say so."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "permissions")
    may = may_thread(actor, EDIT, thread)
    try:
        return _rules(request, thread, may=may)
    except (StateUnreadable, DecodeError) as error:
        return thread_page(request, thread, "permissions", TEMPLATE, unreadable=error.detail)


def _rules(request: HttpRequest, thread: AgentThread, *, may: bool) -> HttpResponse:
    state = state_at(thread).state
    context = {
        "may_edit": may,
        "missing": lacking(thread, EDIT),
        "permission": state.permission_context,
        "modes": MODES,
        "groups": step_groups(state),
        "rules": rule_count(state.permission_context),
    }
    return thread_page(request, thread, "permissions", TEMPLATE, **context)
