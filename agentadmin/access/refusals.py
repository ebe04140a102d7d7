"""Every refusal leaves one audit entry, with what was tried and on what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import Actor
from agentadmin.access.authentication import actor_from_request, address_of
from agentadmin.access.errors import Hidden, Refused
from agentadmin.access.operations import operation_name
from agentadmin.access.tokens import is_uuid
from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.later import append_later
from agentadmin.engine.errors import AgentAdminError, Forbidden, NotAuthenticated, StepUpRequired
from agentadmin.trace import trace_id

if TYPE_CHECKING:
    from django.http import HttpRequest

_AUDITED = (Forbidden, Hidden, StepUpRequired)


def record_refusal(request: HttpRequest, error: AgentAdminError) -> None:
    """Audit a refusal once; call it wherever a door turns an error into an answer."""
    if not isinstance(error, _AUDITED) or getattr(request, "_access_refused", False):
        return
    request._access_refused = True  # type: ignore[attr-defined]
    placed = error if isinstance(error, Refused | Hidden) else None
    append_later(
        NewEntry(
            namespace=placed.namespace if placed else None,
            actor=_who(request),
            action=_action(request),
            target=(placed and placed.target) or _target(request),
            outcome=Outcome.DENIED,
            content={
                "code": error.code,
                "permission": getattr(error, "permission", None),
                "method": request.method,
                "path": request.path,
            },
        )
    )


def _who(request: HttpRequest) -> Actor:
    try:
        return actor_from_request(request)
    except NotAuthenticated:
        return Actor.anonymous(address=address_of(request), trace_id=trace_id())


def _action(request: HttpRequest) -> str:
    """What was tried: the API's operation, or the page's name in the URLconf."""
    match = request.resolver_match
    if match is None:
        return "request"
    return (operation_name(match.func, request.method or "") or match.url_name or "request")[:64]


def _target(request: HttpRequest) -> Target:
    """The first id of the address; only what we made ourselves may stand in a header for ever."""
    given = request.resolver_match.kwargs if request.resolver_match else {}
    for name, value in given.items():
        if is_uuid(str(value)):
            return Target(kind=name.removesuffix("_id"), id=str(value), label=request.path)
    return Target(kind="route", label=request.path)
