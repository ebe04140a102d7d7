"""The audit log: the list, one entry, the verification, and the entries of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.audit import selectors as audit
from agentadmin.audit.format import Outcome
from agentadmin.engine.clock import iso, now
from agentadmin.engine.errors import BadCursor, InvalidInput
from agentadmin.problems import row
from sessions_app.pages.audit import shown_entry, target_url, version_url
from sessions_app.pages.audit_list import (
    SPANS,
    chips,
    files,
    filters_of,
    first_page,
    link,
    query_of,
)
from sessions_app.pages.frame import is_fragment, thread_page
from sessions_app.selectors.threads import thread_detail

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

VERDICT = "audit_verdict"


@requires(audit.READ)
@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """What somebody did, tried or read, newest first."""
    query = query_of(request.GET)
    cursor = request.GET.get("cursor")
    actor = actor_from_request(request)
    context = {
        "nav": "audit",
        "query": query,
        "chips": chips(query),
        "outcomes": list(Outcome),
        "spans": {name: label for name, (label, _) in SPANS.items()},
        "files": files(query),
        "may_verify": actor.may(audit.VERIFY),
        "may_export": actor.may(audit.EXPORT),
        "verdict": request.session.get(VERDICT),
        "newer_url": first_page(query) if cursor else "",
    }
    try:
        page = audit.audit_page(actor, filters_of(query), cursor=cursor)
    except (InvalidInput, BadCursor) as error:
        context["wrong"] = error
        return render(request, "audit/list.html", context, status=row(error)[0])
    context |= {"page": page, "older_url": link(query, page.next_cursor)}
    return render(request, "audit/list.html", context)


@requires(audit.READ)
@require_safe
def audit_entry(request: HttpRequest, entry_id: str) -> HttpResponse:
    """One entry, whole: who, what, why, before and after, its place, and what belongs to it."""
    actor = actor_from_request(request)
    entry = audit.entry_detail(actor, str(entry_id))
    shown = shown_entry(entry)
    before, after = audit.neighbours(actor, entry)
    context = {
        "nav": "audit",
        "entry": entry,
        "shown": shown,
        "target_url": target_url(shown),
        "version_url": version_url(shown),
        "fault": audit.proof_of(entry),
        "before": before,
        "after": after,
        "same_request": audit.same_request(actor, entry),
        "same_target": audit.same_target(actor, entry),
        "has_target_id": audit.has_target_id(entry),
    }
    return render(request, "audit/entry.html", context)


@requires(audit.VERIFY)
@require_POST
def audit_verify(request: HttpRequest) -> HttpResponse:
    """Check every chain that the reader may see, now; the list shows it until the next time."""
    verdict: dict[str, Any] = audit.verify_visible(actor_from_request(request))
    verdict["at"] = iso(now())
    request.session[VERDICT] = verdict
    context = {"nav": "audit", "verdict": verdict}
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
        "older_url": link({}, page.next_cursor),
        "newer_url": "?" if cursor else "",
    }
    return thread_page(request, thread, "audit", "sessions/audit.html", **context)
