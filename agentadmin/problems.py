"""The one table from errors to HTTP, and the builder of RFC 9457 problem JSON.

An error class that has no row answers as its nearest ancestor does; a test holds that every class
of the engine's tree has a row of its own.
"""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from agentadmin.engine import errors
from agentadmin.engine.state import codec
from agentadmin.trace import trace_id

CONTENT_TYPE = "application/problem+json"

TABLE: dict[type[errors.AgentAdminError], tuple[int, str]] = {
    errors.AgentAdminError: (500, "Something went wrong"),
    errors.InvalidInput: (422, "Invalid input"),
    errors.DecodeError: (422, "The document cannot be read"),
    errors.InvalidOperation: (422, "Invalid operation"),
    errors.MissingReason: (400, "A reason is required"),
    errors.BadCursor: (400, "The cursor cannot be read"),
    errors.ForeignCursor: (400, "The cursor belongs to another thread"),
    errors.TooDeep: (422, "The document is nested too deeply"),
    errors.TooLarge: (413, "The body is too large"),
    errors.NotFound: (404, "Not found"),
    errors.Forbidden: (403, "Not allowed"),
    errors.NotAuthenticated: (401, "Sign in first"),
    errors.StepUpRequired: (403, "A fresh sign-in is required"),
    errors.Conflict: (409, "Conflict"),
    errors.StaleVersion: (409, "The state has changed since"),
    errors.ThreadBusy: (409, "A run is going on"),
    errors.InteractionPending: (409, "The thread waits for an answer"),
    errors.NeedsReconcile: (409, "The outcome of a tool call is unknown"),
    errors.IdempotencyMismatch: (409, "This request id was used for another request"),
    errors.AlreadyDecided: (409, "Already decided"),
    errors.SessionExists: (409, "The session exists"),
    errors.SessionErased: (409, "The session was erased"),
    errors.NoActiveRun: (409, "Nothing is running"),
    errors.CursorAhead: (409, "The cursor is ahead of the thread"),
    errors.RunIdReused: (409, "This run id was used before"),
    errors.StaleTasks: (409, "The tasks have changed since"),
    errors.TurnFinished: (409, "The turn has ended"),
    errors.TurnPaused: (409, "The turn is paused"),
    errors.StaleRevision: (409, "The turn has moved on"),
    errors.InputPending: (409, "The turn has not read everything yet"),
    errors.CallHashMismatch: (409, "The call has changed since it was shown"),
    errors.Fenced: (503, "The thread has moved to another worker"),
    errors.StateUnreadable: (500, "The stored state cannot be read"),
    errors.ModelError: (502, "The model failed"),
    errors.ContextOverflow: (502, "The conversation is too long for the model"),
    errors.ToolError: (502, "A tool failed"),
    errors.ShuttingDown: (503, "Shutting down"),
    errors.RateLimited: (429, "Too many requests"),
}

# What Django and Ninja answer by themselves, with the code that says the same in our words.
FRAMEWORK_CODES = {
    400: "bad_request",
    401: errors.NotAuthenticated.code,
    403: errors.Forbidden.code,
    404: errors.NotFound.code,
    405: "method_not_allowed",
    413: errors.TooLarge.code,
    415: "unsupported_media_type",
    429: errors.RateLimited.code,
}


def row(error: errors.AgentAdminError) -> tuple[int, str]:
    """The HTTP status and title of an error."""
    return next(TABLE[cls] for cls in type(error).__mro__ if cls in TABLE)


def problem(
    status: int, code: str, detail: str, *, title: str = "", extra: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A problem document; keys of `extra` never replace the standard ones."""
    return {
        **(extra or {}),
        "type": f"urn:agentadmin:problem:{code}",
        "title": title or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "trace_id": trace_id(),
    }


def of_error(error: errors.AgentAdminError) -> dict[str, Any]:
    """The problem document of an engine error."""
    status, title = row(error)
    return problem(status, error.code, error.detail, title=title, extra=error.extra())


def response(document: dict[str, Any]) -> HttpResponse:
    """The document as an HTTP answer."""
    answer = HttpResponse(
        codec.dumps(document, levels=codec.WRAPPED).encode("utf-8", "backslashreplace"),
        content_type=CONTENT_TYPE,
        status=document["status"],
    )
    if retry := document.get("retry_after"):
        answer.headers["Retry-After"] = str(retry)
    return answer


def error_response(error: errors.AgentAdminError) -> HttpResponse:
    """An engine error as an HTTP answer."""
    return response(of_error(error))


def framework_problem(answer: HttpResponse) -> HttpResponse:
    """Django's own HTML error page as a problem; every other answer unchanged."""
    if answer.status_code < 400 or answer.streaming or "json" in answer.get("Content-Type", ""):
        return answer
    code = FRAMEWORK_CODES.get(answer.status_code, "internal_error")
    replaced = response(problem(answer.status_code, code, answer.reason_phrase))
    for name in ("Allow", "Retry-After", "WWW-Authenticate"):
        if name in answer.headers:
            replaced.headers[name] = answer.headers[name]
    replaced.cookies = answer.cookies
    return replaced


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A missing or wrong CSRF token, said in the form that the caller reads."""
    detail = f"{reason} Reload the page and try again."
    if request.path.startswith("/api/"):
        return response(problem(403, "csrf_failed", detail, title="CSRF check failed"))
    context = {"status": 403, "title": "CSRF check failed", "detail": detail}
    return TemplateResponse(request, "error.html", context, status=403).render()
