"""The dangerous-action dialog of a thread's state: dry run first, then the act itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from agentadmin.access.actor import READ
from agentadmin.access.authentication import actor_from_request
from agentadmin.access.routes import requires
from agentadmin.engine.errors import (
    AgentAdminError,
    StaleVersion,
    StepUpRequired,
)
from agentadmin.problems import row
from sessions_app.pages.act_dialog import CHANGED, MIN_REASON, SHORT_REASON, ActDialog
from sessions_app.pages.acts import act_kind
from sessions_app.pages.answers import Notice, refused_password, show_dialog, show_done
from sessions_app.pages.audit import change_lines
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.services.update_state import OnBusy

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from sessions_app.models import AgentThread
    from sessions_app.pages.act_kind import ActKind
    from sessions_app.services.idempotency import Answer

MOST_CHANGES = 8


@requires(READ)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def thread_act(request: HttpRequest, thread_id: str, op: str) -> HttpResponse:
    """Show what an act would do, or do it."""
    dialog = _dialog(request, thread_id, op)
    if request.method == "POST":
        return _submit(request, dialog)
    if dialog.form.is_bound and dialog.form.is_valid():
        dialog.rehearse()
    return show_dialog(request, dialog.shown())


def _dialog(request: HttpRequest, thread_id: str, op: str) -> ActDialog:
    kind = act_kind(op)
    given = request.POST if request.method == "POST" else request.GET
    bound = given or not kind.form.base_fields
    actor = actor_from_request(request)
    thread = thread_detail(actor, thread_id, kind.permission)
    return ActDialog(
        actor=actor,
        thread=thread,
        kind=kind,
        form=kind.form(given) if bound else kind.form(initial=_initial(kind, thread)),
        reason=given.get("reason", ""),
        on_busy=OnBusy.INTERRUPT if given.get("on_busy") == OnBusy.INTERRUPT else OnBusy.WAIT,
    )


def _initial(kind: ActKind, thread: AgentThread) -> dict[str, Any]:
    return {} if kind.initial is None else kind.initial(state_at(thread).state)


def _submit(request: HttpRequest, dialog: ActDialog) -> HttpResponse:
    if not dialog.form.is_valid():
        return show_dialog(request, dialog.shown(), status=422)
    if request.POST.get("draft") != dialog.draft:
        dialog.rehearse()
        if "draft" in request.POST:
            dialog.notes["changed"] = CHANGED
        return show_dialog(request, dialog.shown())
    if len(dialog.reason.strip()) < MIN_REASON:
        return _again(request, dialog, 422, reason_error=SHORT_REASON)
    if request.POST.get("password") and (refused := _prove(request, dialog)):
        return refused
    return _apply(request, dialog)


def _prove(request: HttpRequest, dialog: ActDialog) -> HttpResponse | None:
    """A fresh sign-in within the dialog; the draft stays where it is."""
    if refused := refused_password(request):
        return _again(request, dialog, row(refused)[0], step_up_error=refused.detail)
    dialog.actor = actor_from_request(request)
    return None


def _apply(request: HttpRequest, dialog: ActDialog) -> HttpResponse:
    version = request.POST.get("expected_version", "")
    expected = int(version) if version.isascii() and version.isdigit() else None
    try:
        answer = dialog.apply(expected)
    except StaleVersion as stale:
        note = {"was": version, "now": stale.current, "text": _changed(stale)}
        return _again(request, dialog, 409, stale=note)
    except StepUpRequired as error:
        return _again(request, dialog, 403, step_up=True, step_up_error=error.detail)
    except AgentAdminError as error:
        if row(error)[0] not in {400, 409, 422}:
            raise
        dialog.refuse(error)
        return _again(request, dialog, row(error)[0])
    return show_done(request, dialog.thread, _notice(answer), tab=dialog.kind.tab)


def _again(request: HttpRequest, dialog: ActDialog, status: int, **notes: object) -> HttpResponse:
    """The dialog with the draft in it, rehearsed on what is newest now."""
    kept = dict(dialog.notes)
    dialog.rehearse()
    dialog.notes |= kept | notes
    return show_dialog(request, dialog.shown(), status=status)


def _changed(stale: StaleVersion) -> str:
    """What has changed since the version that the person read."""
    lines = [f"{line.sign} {line.text}".strip() for line in change_lines(stale.diff)]
    shown = "; ".join(lines[:MOST_CHANGES]) or "the change is described in the audit log"
    return f"Somebody changed the state since you opened this: {shown}."


def _notice(answer: Answer) -> Notice:
    if answer.status == 202:
        return Notice("wait", "Left to the run.", "It is applied at the next step; watch it below.")
    audit = answer.body.get("audit_id")
    return Notice(
        "good",
        f"Applied as version {answer.body['version']}.",
        " ".join(answer.body["effects"]),
        reverse("audit_entry", args=[audit]) if audit else "",
        "Audit entry",
    )
