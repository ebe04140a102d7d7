"""The audit log: the list, one entry, the verification, and the entries of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.audit import selectors as audit
from agentadmin.audit.format import Outcome
from agentadmin.engine.clock import now
from sessions_app.pages.audit import query_of, shown_entry, target_url
from sessions_app.pages.frame import is_fragment, thread_page
from sessions_app.selectors.threads import thread_detail

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@requires(audit.READ)
@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """What somebody did, tried or read, newest first."""
    query = query_of(request.GET)
    cursor = request.GET.get("cursor")
    actor = actor_from_request(request)
    page = audit.audit_page(actor, audit.Filters(**query), cursor=cursor)
    context = {
        "nav": "audit",
        "page": page,
        "query": query,
        "outcomes": list(Outcome),
        "may_verify": actor.may(audit.VERIFY),
        "older_url": _link(query, page.next_cursor),
        "newer_url": f"?{urlencode(query)}" if cursor else "",
    }
    return render(request, "audit/list.html", context)


@requires(audit.READ)
@require_safe
def audit_entry(request: HttpRequest, entry_id: str) -> HttpResponse:
    """One entry, whole: who, what, why, before and after, and its place in the chain."""
    entry = audit.entry_detail(actor_from_request(request), str(entry_id))
    shown = shown_entry(entry)
    context = {"nav": "audit", "entry": entry, "shown": shown, "target_url": target_url(shown)}
    return render(request, "audit/entry.html", context)


@requires(audit.VERIFY)
@require_POST
def audit_verify(request: HttpRequest) -> HttpResponse:
    """Check every chain that the reader may see, now."""
    verdict = audit.verify_visible(actor_from_request(request))
    context = {"nav": "audit", "verdict": verdict, "at": now()}
    template = "audit/_verdict.html" if is_fragment(request) else "audit/verdict.html"
    return render(request, template, context)


@requires(READ)
@require_safe
def thread_audit(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The entries of this session: whatever was done to it or within it."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    if not actor.may(audit.READ, thread.session.namespace, thread.agent_id):
        return thread_page(request, thread, "audit", "sessions/audit.html", missing=audit.READ)
    within = audit.Filters(within=str(thread.session_id))
    cursor = request.GET.get("cursor")
    page = audit.audit_page(actor, within, cursor=cursor)
    context = {
        "page": page,
        "may_verify": actor.may(audit.VERIFY),
        "older_url": _link({}, page.next_cursor),
        "newer_url": "?" if cursor else "",
    }
    return thread_page(request, thread, "audit", "sessions/audit.html", **context)


def _link(query: dict[str, str], cursor: str | None) -> str:
    return f"?{urlencode(query | {'cursor': cursor})}" if cursor else ""
