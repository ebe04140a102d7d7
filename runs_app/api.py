"""Turns, runs, questions, reconciling and demo orders over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.routes import requires
from agentadmin.replies import reply
from runs_app import schemas
from runs_app.policies import CANCEL, INTERRUPT, RECONCILE, RESPOND, SUBMIT
from runs_app.selectors.interactions import interaction_detail, interaction_page
from runs_app.selectors.orders import demo_orders
from runs_app.selectors.runs import run_detail, run_page
from runs_app.selectors.turns import turn_detail, turn_page
from runs_app.services.cancel import cancel_turn
from runs_app.services.interrupt import interrupt_run, interrupt_session
from runs_app.services.reconcile import reconcile_tools
from runs_app.services.respond import respond_interaction
from runs_app.services.submit import submit_turn
from sessions_app.selectors.sessions import session_detail
from sessions_app.selectors.threads import thread_detail

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor

runs_router = Router()


def _actor(request: HttpRequest, request_id: str | None = None) -> Actor:
    """The caller, with the id that the request was given."""
    actor = cast("Actor", request.auth)  # type: ignore[attr-defined]
    return actor if request_id is None else replace(actor, request_id=request_id)


# --- Turns ----------------------------------------------------------------------------------------


@runs_router.post("/threads/{thread_id}/turns", operation_id="submitTurn")
@requires(SUBMIT)
def submit(request: HttpRequest, thread_id: str, body: schemas.SubmitTurn) -> HttpResponse:
    """Accept a turn behind the others of its thread: `{turn_id, state, position, duplicate}`."""
    actor = _actor(request, body.request_id)
    thread = thread_detail(actor, thread_id, SUBMIT)
    receipt = submit_turn(actor=actor, thread=thread, input=body.input, request_id=body.request_id)
    return reply(receipt.to_dict(), 202)


@runs_router.get("/threads/{thread_id}/turns", operation_id="listTurns")
@requires(READ)
def list_turns(
    request: HttpRequest, thread_id: str, cursor: str | None = None, limit: int = 50
) -> HttpResponse:
    """The turns of a thread, newest first."""
    thread = thread_detail(_actor(request), thread_id)
    page = turn_page(thread, cursor=cursor, limit=limit)
    items = [schemas.turn_item(turn) for turn in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@runs_router.get("/turns/{turn_id}", operation_id="getTurn")
@requires(READ)
def get_turn(request: HttpRequest, turn_id: str) -> HttpResponse:
    """A turn: its state, what it waits for, how it ended, and what may be asked of it."""
    return reply(schemas.turn_item(turn_detail(_actor(request), turn_id)))


@runs_router.post("/turns/{turn_id}/cancel", operation_id="cancelTurn")
@requires(CANCEL)
def cancel(request: HttpRequest, turn_id: str, body: schemas.CancelTurn) -> HttpResponse:
    """Give a turn up; `control_id` is there when a run has to do it."""
    receipt = cancel_turn(
        actor=_actor(request, body.request_id),
        turn_id=turn_id,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


# --- Runs -----------------------------------------------------------------------------------------


@runs_router.get("/runs", operation_id="listRuns")
@requires(READ)
def list_runs(
    request: HttpRequest,
    status: str | None = None,
    thread_id: str | None = None,
    turn_id: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> HttpResponse:
    """The runs that the caller sees, newest first; `status` may name several with commas."""
    page = run_page(
        _actor(request),
        status=status,
        thread_id=thread_id,
        turn_id=turn_id,
        cursor=cursor,
        limit=limit,
    )
    items = [schemas.run_item(run) for run in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@runs_router.get("/runs/{run_id}", operation_id="getRun")
@requires(READ)
def get_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """One run."""
    return reply(schemas.run_item(run_detail(_actor(request), run_id)))


@runs_router.post("/runs/{run_id}/interrupt", operation_id="interruptRun")
@requires(INTERRUPT)
def interrupt(request: HttpRequest, run_id: str, body: schemas.Interrupt) -> HttpResponse:
    """Interrupt a run; `no_active_run` when it has ended."""
    receipt = interrupt_run(
        actor=_actor(request, body.request_id),
        run_id=run_id,
        reason=body.reason,
        message=body.message,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


@runs_router.post("/sessions/{session_id}/interrupt", operation_id="interruptSession")
@requires(INTERRUPT)
def interrupt_of_session(
    request: HttpRequest, session_id: str, body: schemas.InterruptSession
) -> HttpResponse:
    """Interrupt whatever runs on a session's thread; `no_active_run` tells what is queued."""
    actor = _actor(request, body.request_id)
    receipt = interrupt_session(
        actor=actor,
        session=session_detail(actor, session_id, READ),
        thread_id=body.thread_id,
        reason=body.reason,
        message=body.message,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


# --- Questions ------------------------------------------------------------------------------------


@runs_router.get("/interactions", operation_id="listInteractions")
@requires(READ)
def list_interactions(
    request: HttpRequest,
    status: str | None = None,
    thread_id: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> HttpResponse:
    """Approvals and questions that the caller sees, oldest first."""
    page = interaction_page(
        _actor(request), status=status, thread_id=thread_id, cursor=cursor, limit=limit
    )
    items = [schemas.interaction_item(asked) for asked in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@runs_router.get("/interactions/{interaction_id}", operation_id="getInteraction")
@requires(READ)
def get_interaction(request: HttpRequest, interaction_id: str) -> HttpResponse:
    """One approval or question."""
    return reply(schemas.interaction_item(interaction_detail(_actor(request), interaction_id)))


@runs_router.post("/interactions/{interaction_id}/respond", operation_id="respondInteraction")
@requires(RESPOND)
def respond(request: HttpRequest, interaction_id: str, body: schemas.Respond) -> HttpResponse:
    """Decide: `already_decided` names the winner, `call_hash_mismatch` a call that has changed."""
    receipt = respond_interaction(
        actor=_actor(request, body.request_id),
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


@runs_router.post("/threads/{thread_id}/reconcile", operation_id="reconcileTools")
@requires(RECONCILE)
def reconcile(request: HttpRequest, thread_id: str, body: schemas.Reconcile) -> HttpResponse:
    """Say what became of calls that were cut off: exactly those, and why."""
    actor = _actor(request, body.request_id)
    receipt = reconcile_tools(
        actor=actor,
        thread=thread_detail(actor, thread_id, RECONCILE),
        results=body.results,
        reason=body.reason,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


# --- The demo -------------------------------------------------------------------------------------


@runs_router.get("/demo/orders", operation_id="listDemoOrders")
@requires(READ)
def list_demo_orders(request: HttpRequest, thread_id: str) -> HttpResponse:
    """What `create_order` has recorded for a thread."""
    orders = demo_orders(thread_detail(_actor(request), thread_id))
    return reply({"items": [schemas.order_item(order) for order in orders], "next_cursor": None})
