"""Questions to people over HTTP, and the outcomes that only people know."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Page, Receipt, Uuid, one_of
from agentadmin.replies import reply
from runs_app import schemas
from runs_app.answers import InteractionItem
from runs_app.policies import RECONCILE, RESPOND
from runs_app.selectors.interactions import interaction_detail, interaction_page
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.respond import respond_interaction
from runs_app.states import InteractionStatus
from sessions_app.selectors.threads import thread_detail

interactions_router = Router()


@interactions_router.get(
    "/interactions", operation_id="listInteractions", response=Page[InteractionItem]
)
@requires(READ)
def list_interactions(
    request: HttpRequest,
    status: Annotated[str, one_of(*InteractionStatus)] | None = None,
    thread_id: Uuid | None = None,
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """Approvals and questions that the caller sees, oldest first."""
    page = interaction_page(
        caller(request), status=status, thread_id=thread_id, cursor=cursor, limit=limit
    )
    items = [schemas.interaction_item(asked) for asked in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@interactions_router.get(
    "/interactions/{interaction_id}", operation_id="getInteraction", response=InteractionItem
)
@requires(READ)
def get_interaction(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """One approval or question."""
    return reply(schemas.interaction_item(interaction_detail(caller(request), interaction_id)))


@interactions_router.post(
    "/interactions/{interaction_id}/respond",
    operation_id="respondInteraction",
    response={202: Receipt},
)
@requires(RESPOND)
def respond(request: HttpRequest, interaction_id: str, body: schemas.Respond) -> HttpResponse:
    """Decide: `already_decided` names the winner, `call_hash_mismatch` a call that has changed."""
    receipt = respond_interaction(
        actor=caller(request, body.request_id),
        interaction_id=interaction_id,
        decision=body.decision,
        call_hash=body.call_hash,
        request_id=body.request_id,
        reason=body.reason,
        answer=body.answer,
        rules=body.rules,
        input=body.input,
    )
    return reply(receipt.to_dict(), 202)


@interactions_router.post(
    "/threads/{thread_id}/reconcile", operation_id="reconcileTools", response={202: Receipt}
)
@requires(RECONCILE)
def reconcile(request: HttpRequest, thread_id: Uuid, body: schemas.Reconcile) -> HttpResponse:
    """Say what became of calls that were cut off: exactly those, and why."""
    actor = caller(request, body.request_id)
    receipt = reconcile_tools(
        actor=actor,
        thread=thread_detail(actor, thread_id, RECONCILE),
        results=body.results,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)
