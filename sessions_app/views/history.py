"""The History tab, the comparison of two versions, and the choice of which two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import DecodeError, StateUnreadable
from sessions_app.pages.comparing import ALL_MESSAGES, MOST_MESSAGES, said, sections
from sessions_app.pages.frame import is_fragment, thread_page
from sessions_app.pages.history import Chosen, history
from sessions_app.selectors.comparison import compare
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.sessions import note_read
from sessions_app.views.state import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest, HttpResponse

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread
    from sessions_app.selectors.checkpoints import Checkpoint
    from sessions_app.selectors.comparison import Comparison

TEMPLATE = "sessions/history.html"
LARGE = 500_000
"""Tokens from which on two states are only compared when somebody asks for it."""


@requires(READ)
@require_safe
def thread_history(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The versions of a thread, and what the newest one changed."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    newest = thread.version
    is_light = newest and thread.context_tokens <= LARGE
    return _page(request, actor, thread, Chosen(newest - 1, newest) if is_light else Chosen())


@requires(READ)
@require_safe
def thread_compare(request: HttpRequest, thread_id: str, before: int, after: int) -> HttpResponse:
    """Two versions beside each other; `other` names the thread that the second one is of."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    given = request.GET.get("other")
    other = thread_detail(actor, given) if given else None
    return _page(request, actor, thread, Chosen(before, after), other)


@requires(READ)
@require_safe
def thread_compare_pick(request: HttpRequest, thread_id: str) -> HttpResponse:
    """From the two that were chosen in the list to the page that compares them."""
    thread = thread_detail(actor_from_request(request), thread_id)
    before, after = number(request, "a"), number(request, "b")
    if after is None:
        after = thread.version
    if before is None:
        before = max(after - 1, 0)
    return redirect("thread_compare", thread.id, before, after)


def _page(
    request: HttpRequest,
    actor: Actor,
    thread: AgentThread,
    chosen: Chosen,
    other: AgentThread | None = None,
) -> HttpResponse:
    note_read(actor, thread, "state")
    if other is not None:
        note_read(actor, other, "state")
    if is_fragment(request):
        # What somebody reads and chooses from is left alone; they are told that there is more.
        seen = number(request, "seen") or 0
        return thread_page(request, thread, "history", TEMPLATE, seen=seen)
    listed = Chosen(chosen.before) if other else chosen
    context = history(actor, thread, listed, cursor=request.GET.get("cursor"), url=request.path)
    known = [row.found for row in context["rows"]]
    context |= _compared(request, thread, chosen, other, known)
    return thread_page(request, thread, "history", TEMPLATE, **context)


def _compared(
    request: HttpRequest,
    thread: AgentThread,
    chosen: Chosen,
    other: AgentThread | None,
    known: Sequence[Checkpoint],
) -> dict[str, Any]:
    """The comparison; a version that cannot be read hides neither the list nor the acts."""
    if chosen.after is None:
        return {}
    try:
        found = compare(thread, chosen.before, chosen.after, other=other, known=known)
    except (StateUnreadable, DecodeError) as error:
        return {"unreadable": error.detail}
    most = ALL_MESSAGES if "all" in request.GET else MOST_MESSAGES
    return {
        "compared": found,
        "said": said(found),
        "sections": sections(found, most=most),
        "permalink": _permalink(found, other),
    }


def _permalink(found: Comparison, other: AgentThread | None) -> str:
    pair = (found.before.thread.id, found.before.version, found.after.version)
    url = reverse("thread_compare", args=pair)
    return f"{url}?other={other.id}" if other else url
