"""The State tab: the state's parts readable, and the raw document a slice at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import DecodeError, InvalidInput, NotFound, StateUnreadable
from agentadmin.engine.state import codec
from sessions_app.journal.rows import stored_text
from sessions_app.journal.unreadable import UNREADABLE
from sessions_app.pages.frame import thread_page
from sessions_app.pages.history import may_act
from sessions_app.pages.rules import rule_count
from sessions_app.pages.slices import resolve, slice_at, tokens_of
from sessions_app.policies import may_thread
from sessions_app.selectors.facts import fact_page
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.selectors.versions import version_row
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions_app.models import AgentThread

READABLE = "sessions/state.html"


@requires(READ)
@require_safe
def thread_state(request: HttpRequest, thread_id: str) -> HttpResponse:
    """A thread's state at its newest version, or at the one asked for."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "state")
    try:
        return _readable(request, thread)
    except (StateUnreadable, DecodeError) as error:
        return thread_page(request, thread, "state", READABLE, unreadable=error.detail)


def _readable(request: HttpRequest, thread: AgentThread) -> HttpResponse:
    found = state_at(thread, number(request, "version"))
    document = found.state.to_dict()
    actor = actor_from_request(request)
    context = {
        "may_summarise": may_thread(actor, "sessions:edit_summary", thread),
        "may_clear": may_thread(actor, "sessions:clear", thread),
        "may_patch": may_thread(actor, "sessions:patch", thread),
        "found": found,
        "state": found.state,
        "rules": rule_count(found.state.permission_context),
        "slice": slice_at(document, request.GET.get("pointer", ""), number(request, "from") or 0),
        "is_raw": "pointer" in request.GET,
        "row": version_row(thread, found.version),
        "asked_version": number(request, "version"),
        "is_past": found.version < thread.version,
        **may_act(actor_from_request(request), thread),
    }
    return thread_page(request, thread, "state", READABLE, **context)


@requires(READ)
@require_safe
def state_raw(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The exact document, or a part of it, as text."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "state")
    found = state_at(thread, number(request, "version"))
    part = resolve(found.state.to_dict(), tokens_of(request.GET.get("pointer", "")))
    return _text(codec.pretty(part), f"state-v{found.version}.json")


@requires(READ)
@require_safe
def fact_raw(request: HttpRequest, thread_id: str, seq: int) -> HttpResponse:
    """One fact's exact payload as text."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "facts")
    found = fact_page(thread, after=max(seq - 1, 0), limit=1).items
    if not found or found[0].seq != seq:
        raise NotFound(f"This thread has no fact {seq}.")
    stored = stored_text(found[0], thread.id) if UNREADABLE in found[0].payload else None
    return _text(stored or codec.pretty(found[0].payload), f"fact-{seq}.json")


def number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the address, or None where it is absent."""
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InvalidInput("must be a whole number", path=name)
    return int(text)


def _text(text: str, name: str) -> HttpResponse:
    """JSON as plain text, which no browser runs."""
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response
