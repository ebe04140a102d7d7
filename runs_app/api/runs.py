"""Runs over HTTP, and their interruption."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Page, Receipt, Uuid
from agentadmin.replies import reply
from runs_app import schemas
from runs_app.answers import RunItem
from runs_app.policies import INTERRUPT
from runs_app.selectors.runs import run_detail, run_page
from runs_app.services.interrupt import interrupt_run, interrupt_session
from sessions_app.selectors.sessions import session_detail

runs_router = Router()


@runs_router.get("/runs", operation_id="listRuns", response=Page[RunItem])
@requires(READ)
def list_runs(
    request: HttpRequest,
    status: str | None = None,
    thread_id: Uuid | None = None,
    turn_id: str | None = None,
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """The runs that the caller sees, newest first; `status` may name several with commas."""
    page = run_page(
        caller(request),
        status=status,
        thread_id=thread_id,
        turn_id=turn_id,
        cursor=cursor,
        limit=limit,
    )
    items = [schemas.run_item(run) for run in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@runs_router.get("/runs/{run_id}", operation_id="getRun", response=RunItem)
@requires(READ)
def get_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """One run."""
    return reply(schemas.run_item(run_detail(caller(request), run_id)))


@runs_router.post("/runs/{run_id}/interrupt", operation_id="interruptRun", response={202: Receipt})
@requires(INTERRUPT)
def interrupt(request: HttpRequest, run_id: str, body: schemas.Interrupt) -> HttpResponse:
    """Interrupt a run; `no_active_run` when it has ended."""
    receipt = interrupt_run(
        actor=caller(request, body.request_id),
        run_id=run_id,
        reason=body.reason,
        message=body.message,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)


@runs_router.post(
    "/sessions/{session_id}/interrupt",
    operation_id="interruptSession",
    response={202: Receipt},
)
@requires(INTERRUPT)
def interrupt_of_session(
    request: HttpRequest, session_id: Uuid, body: schemas.InterruptSession
) -> HttpResponse:
    """Interrupt whatever runs on a session's thread; `no_active_run` tells what is queued."""
    actor = caller(request, body.request_id)
    receipt = interrupt_session(
        actor=actor,
        session=session_detail(actor, session_id, READ),
        thread_id=body.thread_id,
        reason=body.reason,
        message=body.message,
        request_id=body.request_id,
    )
    return reply(receipt.to_dict(), 202)
