"""The audit log over HTTP: list it, read an entry, export it, verify it."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router, Schema

from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Moment, Page, Uuid, one_of
from agentadmin.audit.answers import AuditItem, AuditWhole, Verification
from agentadmin.audit.export import FORMATS, export
from agentadmin.audit.format import Outcome
from agentadmin.audit.reading import note_export
from agentadmin.audit.selectors import (
    EXPORT,
    READ,
    VERIFY,
    Filters,
    audit_page,
    entry_detail,
    entry_document,
    list_item,
    verify_visible,
)
from agentadmin.replies import reply
from agentadmin.streaming import file_response

audit_router = Router()


class Wanted(Schema):
    """What a caller looks for; empty means anything, `target` also finds what lies within it."""

    q: str = ""
    actor: str = ""
    action: str = ""
    target: str = ""
    outcome: Annotated[str, one_of("", *Outcome)] = ""
    since: Moment | None = None
    until: Moment | None = None

    def filters(self) -> Filters:
        """The same for the selectors."""
        return Filters(**self.dict())


FILES: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in FORMATS.values()
            },
        }
    }
}


@audit_router.get("/audit", operation_id="listAudit", response=Page[AuditItem])
@requires(READ)
def list_audit(
    request: HttpRequest, wanted: Query[Wanted], cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """Entries that the caller may see, newest first; `target` also finds what lies within it."""
    page = audit_page(caller(request), wanted.filters(), cursor=cursor, limit=limit)
    items = [list_item(entry) for entry in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@audit_router.get("/audit/verify", operation_id="verifyAudit", response=Verification)
@requires(VERIFY)
def verify_audit(request: HttpRequest) -> HttpResponse:
    """Recompute every hash of the caller's chains: `{ok, checked, erased, first_bad}`."""
    return reply(verify_visible(caller(request)))


@audit_router.get("/audit/export", operation_id="exportAudit", openapi_extra=FILES)
@requires(EXPORT)
def export_audit(
    request: HttpRequest,
    wanted: Query[Wanted],
    format: Annotated[str, one_of(*FORMATS)] = "csv",
) -> StreamingHttpResponse:
    """The entries that fit, as a file; `jsonl` is a bundle that `verify_audit` can check."""
    actor = caller(request)
    made = export(actor, wanted.filters(), format)
    note_export(actor, wanted.dict(exclude_defaults=True, exclude_none=True), format)
    return file_response(made.pieces, content_type=made.content_type, name=made.name)


@audit_router.get("/audit/{entry_id}", operation_id="getAudit", response=AuditWhole)
@requires(READ)
def get_audit(request: HttpRequest, entry_id: Uuid) -> HttpResponse:
    """One entry with its content and hashes."""
    return reply(entry_document(entry_detail(caller(request), entry_id)))
