"""Showing a dialog about a turn, refusing it with its draft, or doing what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from agentadmin.engine.errors import AgentAdminError
from agentadmin.problems import row
from sessions_app.pages.answers import show_dialog, show_done

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from sessions_app.models import AgentThread
    from sessions_app.pages.answers import Notice


class TurnDialog(Protocol):
    """What a person asks for about a turn, and what is known about it so far."""

    error: dict[str, str]

    @property
    def thread(self) -> AgentThread:
        """Where the result is shown."""

    @property
    def is_complete(self) -> bool:
        """Whether everything was filled in."""

    def do(self) -> Notice:
        """Ask for it. Raises what the service does."""

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""


def answer(request: HttpRequest, dialog: TurnDialog) -> HttpResponse:
    """The dialog, or what came of it."""
    if request.method != "POST":
        return show_dialog(request, dialog.shown())
    if not dialog.is_complete:
        return show_dialog(request, dialog.shown(), status=422)
    try:
        notice = dialog.do()
    except AgentAdminError as error:
        if row(error)[0] not in {409, 413, 422}:
            raise
        dialog.error = {"title": f"{row(error)[1]}.", "text": error.detail}
        return show_dialog(request, dialog.shown(), status=row(error)[0])
    return show_done(request, dialog.thread, notice)
