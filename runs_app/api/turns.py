"""Turns over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Page, Receipt, Uuid
from agentadmin.replies import reply
from runs_app import schemas
from runs_app.answers import TurnItem
from runs_app.policies import CANCEL, SUBMIT
from runs_app.selectors.turns import turn_detail, turn_page
from runs_app.services.cancel import cancel_turn
from runs_app.services.submit import submit_turn
from sessions_app.selectors.threads import thread_detail

turns_router = Router()


@turns_router.post("/threads/{thread_id}/turns", operation_id="submitTurn", response={202: Receipt})
@requires(SUBMIT)
def submit(request: HttpRequest, thread_id: Uuid, body: schemas.SubmitTurn) -> HttpResponse:
    """Accept a turn behind the others of its thread: `{turn_id, state, position, duplicate}`."""
    actor = caller(request, body.request_id)
    thread = thread_detail(actor, thread_id, SUBMIT)
    receipt = submit_turn(actor=actor, thread=thread, input=body.input, request_id=body.request_id)
    return reply(receipt.to_dict(), 202)


@turns_router.get("/threads/{thread_id}/turns", operation_id="listTurns", response=Page[TurnItem])
@requires(READ)
def list_turns(
    request: HttpRequest, thread_id: Uuid, cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """The turns of a thread, newest first."""
    thread = thread_detail(caller(request), thread_id)
    page = turn_page(thread, cursor=cursor, limit=limit)
    items = [schemas.turn_item(turn) for turn in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@turns_router.get("/turns/{turn_id}", operation_id="getTurn", response=TurnItem)
@requires(READ)
def get_turn(request: HttpRequest, turn_id: str) -> HttpResponse:
    """A turn: its state, what it waits for, how it ended, and what may be asked of it."""
    return reply(schemas.turn_item(turn_detail(caller(request), turn_id)))


@turns_router.post("/turns/{turn_id}/cancel", operation_id="cancelTurn", response={202: Receipt})
@requires(CANCEL)
def cancel(request: HttpRequest, turn_id: str, body: schemas.CancelTurn) -> HttpResponse:
    """Give a turn up; `control_id` is there when a run has to do it."""
    receipt = cancel_turn(
        actor=caller(request, body.request_id),
        turn_id=turn_id,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)
