"""The product's one dialog on the pages of access: shown, and left when its act is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

if TYPE_CHECKING:
    from django.http import HttpRequest

MIN_REASON = 10
SHORT_REASON = "Say in at least 10 characters why; it is kept in the audit trail."


def show_dialog(
    request: HttpRequest, act: dict[str, Any], nav: str, *, status: int = 200
) -> HttpResponse:
    """A fragment over the page, or a page of its own without scripts."""
    template = "_dialog.html" if _is_fragment(request) else "dialog_page.html"
    return render(request, template, {"act": act, "nav": nav}, status=status)


def leave(request: HttpRequest, url: str, said: str) -> HttpResponse:
    """Go on to a page that says what was done."""
    messages.success(request, said)
    if not _is_fragment(request):
        return redirect(url)
    # htmx follows a redirect inside the page; this one is for the whole window.
    response = HttpResponse()
    response["HX-Redirect"] = url
    return response


def short_reason(request: HttpRequest) -> bool:
    """Whether the reason that came says too little."""
    return len(request.POST.get("reason", "").strip()) < MIN_REASON


def _is_fragment(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
