"""The audit log over HTTP: list it, verify it."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Page, one_of
from agentadmin.audit.answers import AuditItem, Verification
from agentadmin.audit.format import Outcome
from agentadmin.audit.selectors import READ, VERIFY, Filters, audit_page, list_item, verify_visible
from agentadmin.replies import reply

audit_router = Router()


@audit_router.get("/audit", operation_id="listAudit", response=Page[AuditItem])
@requires(READ)
def list_audit(
    request: HttpRequest,
    q: str = "",
    actor: str = "",
    action: str = "",
    target: str = "",
    outcome: Annotated[str, one_of(*Outcome)] = "",
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """Entries that the caller may see, newest first; `target` also finds what lies within it."""
    filters = Filters(q=q, actor=actor, action=action, target=target, outcome=outcome)
    page = audit_page(_reader(request), filters, cursor=cursor, limit=limit)
    items = [list_item(entry) for entry in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@audit_router.get("/audit/verify", operation_id="verifyAudit", response=Verification)
@requires(VERIFY)
def verify_audit(request: HttpRequest) -> HttpResponse:
    """Recompute every hash of the caller's chains: `{ok, checked, erased, first_bad}`."""
    return reply(verify_visible(_reader(request)))


def _reader(request: HttpRequest) -> Any:
    return request.auth  # type: ignore[attr-defined]
