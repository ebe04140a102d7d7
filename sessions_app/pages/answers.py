"""How a page answers an act: with its dialog, or with the strip that shows what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from agentadmin.access import sign_in
from agentadmin.engine.errors import NotAuthenticated, RateLimited
from sessions_app.pages.frame import is_fragment, tab_url
from sessions_app.pages.steps import shown_controls
from sessions_app.selectors.recent import recent_controls

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions_app.models import AgentThread


@dataclass(frozen=True, slots=True)
class Notice:
    """One result at its place: good, wait or bad, with where to look further."""

    level: str
    title: str
    text: str = ""
    action_url: str = ""
    action_label: str = ""


def show_dialog(request: HttpRequest, act: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The one dialog: as a fragment over the page, or as a page of its own without scripts."""
    template = "_dialog.html" if is_fragment(request) else "dialog_page.html"
    return render(request, template, {"act": act, "nav": "sessions"}, status=status)


def show_done(
    request: HttpRequest, thread: AgentThread, notice: Notice, *, tab: str = "conversation"
) -> HttpResponse:
    """What became of an act, in place; without scripts on the page that it belongs to."""
    if not is_fragment(request):
        said = " ".join(filter(None, (notice.title, notice.text)))
        messages.success(request, said or "Requested; its way is shown here.")
        return redirect(tab_url(thread, tab))
    if notice.level == "good" and _is_on_history(request, thread):
        # A list of versions that somebody reads is left alone, but not after their own act.
        messages.success(request, " ".join(filter(None, (notice.title, notice.text))))
        return HttpResponse(headers={"HX-Redirect": tab_url(thread, "history")})
    context = {
        "thread": thread,
        "notice": notice if notice.title else None,
        "controls": shown_controls(recent_controls(thread)),
        "outside": True,
    }
    return render(request, "sessions/_acts.html", context)


def _is_on_history(request: HttpRequest, thread: AgentThread) -> bool:
    """Whether the act was asked for on a page that lists the thread's versions."""
    path = urlsplit(request.headers.get("HX-Current-URL", "")).path
    return path.startswith((tab_url(thread, "history"), f"/threads/{thread.id}/compare"))


def refused_password(request: HttpRequest) -> NotAuthenticated | RateLimited | None:
    """Try the password typed into a dialog; why it is refused, or None: the sign-in is fresh."""
    try:
        sign_in.step_up(request, password=request.POST["password"])
    except (NotAuthenticated, RateLimited) as error:
        return error
    return None
