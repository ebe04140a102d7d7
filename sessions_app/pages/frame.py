"""The frame of every page of a thread: identity, numbers, tabs, and the newest controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.shortcuts import render
from django.urls import reverse

from agentadmin.access.authentication import actor_from_request
from sessions_app.journal.configured import agent_window
from sessions_app.pages.steps import shown_controls
from sessions_app.policies import ERASE, EXPORT, may_thread
from sessions_app.selectors.recent import recent_controls
from sessions_app.selectors.sessions import session_threads

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread

REDACT = "sessions:redact"
TABS = (
    ("conversation", "Conversation"),
    ("state", "State"),
    ("permissions", "Permissions"),
    ("plan", "Plan & tasks"),
    ("runs", "Runs"),
    ("history", "History"),
    ("audit", "Audit"),
)


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a thread, as `_tabs.html` shows it."""

    key: str
    label: str
    url: str
    count: int | None = None


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx asks, for a piece of the page that is open."""
    return request.headers.get("HX-Request") == "true"


def thread_frame(actor: Actor, thread: AgentThread, tab: str) -> dict[str, Any]:
    """What the header and the tabs of a thread's page need."""
    session = thread.session
    threads = session_threads(session) if session.thread_count > 1 else [thread]
    seen = [
        one
        for one in threads
        if actor.sees(namespace=session.namespace, agent_id=one.agent_id, user_id=session.user_id)
    ]
    return {
        "nav": "sessions",
        "actor": actor,
        "thread": thread,
        "session": session,
        "threads": seen,
        "may_export": may_thread(actor, EXPORT, thread),
        "may_erase": actor.may(ERASE, session.namespace, session.agent_id),
        "tab": tab,
        "tabs": [Tab(key, label, tab_url(thread, key)) for key, label in TABS],
        "window": agent_window(thread.agent_id),
        "turn_number": thread.turns - thread.queued_turns,
        "controls": shown_controls(recent_controls(thread)),
        "may_redact": may_thread(actor, REDACT, thread),
    }


def tab_url(thread: AgentThread, key: str) -> str:
    """The address of one page of a thread."""
    return reverse(f"thread_{key}", args=[thread.id])


def thread_page(
    request: HttpRequest, thread: AgentThread, tab: str, template: str, **context: Any
) -> HttpResponse:
    """A whole page of a thread; a fragment of it where the live view asks for news."""
    frame = thread_frame(actor_from_request(request), thread, tab)
    return render(request, template, frame | {"fragment": is_fragment(request)} | context)
