"""The export dialog: a format, what it would cost, and the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.interop import Format
from sessions_app.pages.frame import is_fragment, tab_url
from sessions_app.policies import EXPORT
from sessions_app.selectors.exporting import export_thread
from sessions_app.selectors.threads import thread_detail
from sessions_app.services.sessions import note_read

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions_app.selectors.exporting import Export

LABELS = {
    Format.NATIVE: "AgentAdmin",
    Format.JAVA: "AgentScope for Java",
    Format.PYTHON: "AgentScope for Python",
}
MOST_LOSSES = 50


@requires(EXPORT)
@require_safe
def thread_export(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Choose a format and read what it would not hold, before anything is downloaded."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id, EXPORT)
    note_read(actor, thread, "export")
    given = request.GET.get("format", "")
    kind = Format(given) if given in set(Format) else Format.NATIVE
    context: dict[str, object] = {
        "nav": "sessions",
        "thread": thread,
        "format": kind,
        "formats": LABELS.items(),
        "label": LABELS[kind],
        "back_url": tab_url(thread, "state"),
        "page": not is_fragment(request),
    }
    try:
        context |= _shown(export_thread(thread, kind))
    except InvalidInput as error:
        context["refused"] = str(error)
    template = "sessions/_export.html" if is_fragment(request) else "sessions/export.html"
    return render(request, template, context)


def _shown(export: Export) -> dict[str, object]:
    return {
        "export": export,
        "size": len(export.text.encode("utf-8", "surrogatepass")),
        "losses": export.losses[:MOST_LOSSES],
        "more_losses": max(len(export.losses) - MOST_LOSSES, 0),
    }


@requires(EXPORT)
@require_safe
def thread_export_file(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The document as a file, as its own system writes it."""
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id, EXPORT)
    export = export_thread(thread, request.GET.get("format", Format.NATIVE))
    note_read(actor, thread, "export")
    answer = HttpResponse(
        export.text.encode("utf-8", "backslashreplace"), content_type="application/json"
    )
    name = content_disposition_header(as_attachment=True, filename=export.file_name)
    answer.headers["Content-Disposition"] = name or "attachment"
    answer.headers["Export-Losses"] = str(len(export.losses))
    return answer
