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
from runs_app.answers import TurnItem, TurnRow
from runs_app.policies import CANCEL, STEER, SUBMIT
from runs_app.selectors.turn_list import visible_turns
from runs_app.selectors.turns import turn_detail, turn_page
from runs_app.services.cancel import cancel_turn
from runs_app.services.pause import pause_turn, resume_turn
from runs_app.services.steer import steer_turn
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


@turns_router.get("/turns", operation_id="listAllTurns", response=Page[TurnRow])
@requires(READ)
def list_all_turns(
    request: HttpRequest,
    status: str | None = None,
    agent_id: str | None = None,
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """The turns that the caller sees, newest first; `status` is `open`, or states with commas."""
    actor = caller(request)
    page = visible_turns(actor, status=status, agent_id=agent_id, cursor=cursor, limit=limit)
    items = [schemas.turn_row(turn) for turn in page.items]
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


@turns_router.post("/turns/{turn_id}/pause", operation_id="pauseTurn", response={202: Receipt})
@requires(STEER)
def pause(request: HttpRequest, turn_id: str, body: schemas.PauseTurn) -> HttpResponse:
    """Hold a turn; one that runs is `pausing` until its next safe point (`control_id`)."""
    receipt = pause_turn(
        actor=caller(request, body.request_id),
        turn_id=turn_id,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


@turns_router.post("/turns/{turn_id}/resume", operation_id="resumeTurn", response={202: Receipt})
@requires(STEER)
def resume(request: HttpRequest, turn_id: str, body: schemas.ResumeTurn) -> HttpResponse:
    """Let a paused turn go on; `stale_revision` carries where it stands when it has moved."""
    receipt = resume_turn(
        actor=caller(request, body.request_id),
        turn_id=turn_id,
        revision=body.revision,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


@turns_router.post("/turns/{turn_id}/steer", operation_id="steerTurn", response={202: Receipt})
@requires(STEER)
def steer(request: HttpRequest, turn_id: str, body: schemas.SteerTurn) -> HttpResponse:
    """Tell a turn something: it reads it before its next request to the model."""
    receipt = steer_turn(
        actor=caller(request, body.request_id),
        turn_id=turn_id,
        input=body.input,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)
