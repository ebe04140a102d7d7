"""The import page: one file by script, or all of them by a form without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from agentadmin.access.authentication import actor_from_request
from agentadmin.access.refusals import record_refusal
from agentadmin.access.routes import requires
from agentadmin.collector import collection_paused
from agentadmin.problems import row
from sessions_app.pages.answers import refused_password
from sessions_app.pages.frame import is_fragment
from sessions_app.pages.import_form import ImportForm
from sessions_app.pages.importing import CREATED, PASTED, Brought, Outcome, bring
from sessions_app.policies import IMPORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest, HttpResponse

NOTHING = "Choose at least one file, or paste a state."


@requires(IMPORT)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def session_import(request: HttpRequest) -> HttpResponse:
    """Ask for files, or bring those that were sent; each has an outcome of its own."""
    if request.method != "POST":
        return _page(request, ImportForm(initial=request.GET.dict() or None))
    form = ImportForm(request.POST)
    if not form.is_valid():
        return _invalid(request, form)
    if request.POST.get("password") and (refused := refused_password(request)):
        form.add_error(None, refused.detail)
        return _invalid(request, form, status=row(refused)[0])
    outcomes = [_outcome(request, form, brought) for brought in _brought(request, form)]
    if not outcomes:
        form.add_error(None, NOTHING)
        return _invalid(request, form)
    if is_fragment(request):
        return _line(request, outcomes[0])
    status = 200 if any(o.kind == "imported" for o in outcomes) else outcomes[0].status
    return _page(request, form, outcomes, status=status)


def _brought(request: HttpRequest, form: ImportForm) -> Iterator[Brought]:
    """The files in the order in which they were chosen, then what was pasted."""
    request_id = request.POST.get("request_id") or None
    for file in request.FILES.getlist("files"):
        yield Brought(file.name or "file", file.read(), request_id)
    if form.cleaned_data["pasted"].strip():
        text = form.cleaned_data["pasted"].encode("utf-8", "surrogatepass")
        yield Brought(PASTED, text, request_id)


def _outcome(request: HttpRequest, form: ImportForm, brought: Brought) -> Outcome:
    with collection_paused():
        outcome = bring(actor_from_request(request), form, brought)
    if outcome.error is not None:
        record_refusal(request, outcome.error)
    return outcome


def _invalid(request: HttpRequest, form: ImportForm, *, status: int = 422) -> HttpResponse:
    """What is wrong with the form stands at its fields; by script at the file's line."""
    if not is_fragment(request):
        return _page(request, form, status=status)
    errors = [(field, text) for field, texts in form.errors.items() for text in texts]
    field, text = errors[0]
    path = "" if field == "__all__" else str(field)
    kept = Outcome(
        name=request.POST.get("name", ""),
        size=0,
        kind="refused",
        status=status,
        title="Not sent",
        text=str(text),
        path=path,
    )
    return _line(request, kept)


def _line(request: HttpRequest, outcome: Outcome) -> HttpResponse:
    number = request.POST.get("row", "")
    context = {
        "outcome": outcome,
        "number": number if number.isascii() and number.isdigit() else "1",
        "scripted": True,
    }
    return render(request, "sessions/_import_outcome.html", context, status=outcome.status)


def _page(
    request: HttpRequest,
    form: ImportForm,
    outcomes: list[Outcome] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    brought = outcomes or []
    context = {
        "nav": "sessions",
        "form": form,
        "outcomes": brought,
        "imported": sum(1 for outcome in brought if outcome.status == CREATED),
        "asks_password": any(o.kind == "wider" and o.asks_password for o in brought),
    }
    return render(request, "sessions/import.html", context, status=status)
