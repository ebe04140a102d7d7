"""The Conversation tab, its lenses, and the fragment that keeps an open page current."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import DecodeError, NotFound, StateUnreadable
from runs_app.pages.conversation import conversation, news
from runs_app.pages.now import now_of
from runs_app.pages.working import working_context
from sessions_app.pages.frame import is_fragment, thread_page
from sessions_app.selectors.sessions import session_detail, session_threads
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.services.sessions import note_read
from sessions_app.views.state import number

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions_app.models import AgentThread

TEMPLATE = "runs/conversation.html"
HEAD_ONLY = "runs/conversation_head.html"


@requires(READ)
@require_safe
def session_page(request: HttpRequest, session_id: str) -> HttpResponse:
    """A session opens at the conversation of its first thread."""
    session = session_detail(actor_from_request(request), session_id, READ)
    threads = session_threads(session)
    if not threads:
        raise NotFound("This session has no thread.")
    return thread_conversation(request, threads[0].id)


@requires(READ)
@require_safe
def thread_home(request: HttpRequest, thread_id: str) -> HttpResponse:
    """A thread's own address leads to its conversation."""
    return redirect("thread_conversation", thread_id)


@requires(READ)
@require_safe
def thread_conversation(request: HttpRequest, thread_id: Any) -> HttpResponse:
    """What was said and done, the newest at the end."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id)
    note_read(actor, thread, "transcript")
    if is_fragment(request) and "after_seq" in request.GET:
        return _fragment(request, thread, number(request, "after_seq") or 0)
    try:
        return thread_page(request, thread, "conversation", TEMPLATE, **_lens(request, thread))
    except (StateUnreadable, DecodeError) as error:
        return thread_page(request, thread, "conversation", TEMPLATE, unreadable=error.detail)


def _lens(request: HttpRequest, thread: AgentThread) -> dict[str, Any]:
    lens = request.GET.get("lens", "full")
    before = number(request, "before")
    if lens == "summary":
        return {"lens": lens, "summary": state_at(thread).state.summary}
    if lens == "context":
        return {"lens": lens, "talk": working_context(thread, before)}
    actor = actor_from_request(request)
    talk = conversation(thread, before=before)
    return {"lens": "full", "talk": talk, "is_newest": before is None, **now_of(actor, thread)}


def _fragment(request: HttpRequest, thread: AgentThread, after: int) -> HttpResponse:
    """Only what facts after a seq touched; a page that is far behind is loaded afresh."""
    if "frozen" in request.GET:
        # An older page or another lens: what is new does not belong there, the header does.
        lens = request.GET.get("lens", "full")
        return thread_page(request, thread, "conversation", HEAD_ONLY, lens=lens)
    talk = news(thread, after)
    if talk is None:
        return HttpResponse(headers={"HX-Refresh": "true"})
    context = now_of(actor_from_request(request), thread)
    return thread_page(
        request,
        thread,
        "conversation",
        "runs/conversation_news.html",
        lens="full",
        talk=talk,
        **context,
    )
