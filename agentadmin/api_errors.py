"""Whatever goes wrong in the API, said as problem JSON with a stable code and the trace id."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import HttpError, ValidationError

from agentadmin import problems
from agentadmin.access.refusals import record_refusal
from agentadmin.engine.errors import AgentAdminError, InvalidInput, NotFound, TooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ninja import NinjaAPI

log = logging.getLogger(__name__)


def install(api: NinjaAPI) -> None:
    """Answer every kind of error of this API."""
    api.add_exception_handler(AgentAdminError, refused)
    api.add_exception_handler(ValidationError, invalid)
    api.add_exception_handler(HttpError, framework)
    api.add_exception_handler(Http404, lambda request, _: refused(request, NotFound()))
    api.add_exception_handler(
        RequestDataTooBig,
        lambda request, _: refused(
            request, TooLarge("A body may have at most 32 MB.", path="body")
        ),
    )
    api.add_exception_handler(Exception, broken)


def refused(request: HttpRequest, error: Any) -> HttpResponse:
    """An error of the tree; refusals are audited, failures of ours are logged."""
    record_refusal(request, error)
    answer = problems.error_response(error)
    if answer.status_code >= 500:
        log.error("%s %s: %s", request.method, request.path, error, exc_info=error)
    return answer


def invalid(request: HttpRequest, error: Any) -> HttpResponse:
    """What the declared parameters and bodies do not allow: the first field, and all of them."""
    found = [{"path": _path(e["loc"]), "detail": e["msg"]} for e in error.errors]
    first = InvalidInput(found[0]["detail"], path=found[0]["path"])
    document = problems.of_error(first) | {"errors": found}
    return problems.response(document)


def _path(place: Sequence[Any]) -> str:
    """Ninja's place of an error without its own words: source, and the parameter's name."""
    source, *rest = place
    if source == "body":
        rest = rest[1:]
    path = ""
    for step in rest:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path


def framework(request: HttpRequest, error: Any) -> HttpResponse:
    """What Ninja raises itself; an error of ours that it wrapped comes out again."""
    cause = error.__cause__
    if isinstance(cause, AgentAdminError):
        return refused(request, cause)
    if isinstance(cause, HttpError):
        error = cause
    code = problems.FRAMEWORK_CODES.get(error.status_code, "bad_request")
    return problems.response(problems.problem(error.status_code, code, str(error)))


def broken(request: HttpRequest, error: Any) -> HttpResponse:
    """A fault of ours: the log has it by the trace id that the answer carries."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    detail = "Something went wrong here; the log has it under this trace id."
    return problems.response(problems.problem(500, "internal_error", detail))
