"""Threads over HTTP: state, facts, transcript, and the controls that change them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import ControlStarted, Count, Limit, Page, Uuid
from agentadmin.replies import reply
from sessions_app import schemas
from sessions_app.answers import (
    ControlWhole,
    FactItem,
    StateWhole,
    ThreadWhole,
    TranscriptPage,
    Updated,
)
from sessions_app.api.etags import etag, is_known, unchanged
from sessions_app.selectors.controls import control_detail
from sessions_app.selectors.facts import fact_page
from sessions_app.selectors.threads import state_at, thread_detail
from sessions_app.selectors.transcript import transcript
from sessions_app.services.outcome import completed
from sessions_app.services.sessions import note_read
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import ControlKind

threads_router = Router()


@threads_router.get("/threads/{thread_id}", operation_id="getThread", response=ThreadWhole)
@requires(READ)
def get_thread(request: HttpRequest, thread_id: Uuid) -> HttpResponse:
    """A thread: its identity, head, lease and context."""
    return reply(schemas.thread_whole(thread_detail(caller(request), thread_id)))


@threads_router.get(
    "/threads/{thread_id}/state",
    operation_id="getAgentState",
    response={200: StateWhole, 304: None},
)
@requires(READ)
def get_agent_state(
    request: HttpRequest, thread_id: Uuid, version: Count | None = None
) -> HttpResponse:
    """The state at a version, else the newest committed one; the ETag names its version.

    304 without a body where `If-None-Match` names it already.
    """
    actor = caller(request)
    thread = thread_detail(actor, thread_id)
    if is_known(request, thread, version):
        return unchanged(thread, version)
    found = state_at(thread, version)
    note_read(actor, thread, "state")
    return reply(schemas.state_whole(found), headers={"ETag": etag(found.version)})


@threads_router.patch(
    "/threads/{thread_id}/state",
    operation_id="updateAgentState",
    response={200: Updated, 202: ControlStarted},
)
@requires(READ)
def update_state(request: HttpRequest, thread_id: Uuid, body: schemas.UpdateState) -> HttpResponse:
    """Change a state by operations: 200 with what changed, 202 while a run holds the thread."""
    actor = caller(request, body.request_id)
    answer = update_agent_state(
        actor=actor,
        thread=thread_detail(actor, thread_id),
        reason=body.reason,
        operations=body.operations,
        expected_version=body.expected_version,
        on_busy=body.on_busy,
        dry_run=body.dry_run,
        request_id=body.request_id,
    )
    return reply(answer.body, answer.status)


@threads_router.get("/controls/{control_id}", operation_id="getControl", response=ControlWhole)
@requires(READ)
def get_control(request: HttpRequest, control_id: Uuid) -> HttpResponse:
    """A command to a thread: how far it has come, when, and with what result."""
    found = control_detail(caller(request), control_id)
    whole = schemas.control_whole(found)
    if found.kind == ControlKind.EDIT and whole["result"]:
        whole["result"] = completed(whole["result"], found.thread)
    return reply(whole)


@threads_router.get("/threads/{thread_id}/facts", operation_id="listFacts", response=Page[FactItem])
@requires(READ)
def list_facts(
    request: HttpRequest,
    thread_id: Uuid,
    after: Count = 0,
    limit: Limit = 50,
    types: str = "",
    run_id: str | None = None,
    turn_id: str | None = None,
) -> HttpResponse:
    """Journal facts in `seq` order; `types` are separated by commas."""
    actor = caller(request)
    thread = thread_detail(actor, thread_id)
    wanted = [name for name in types.split(",") if name]
    page = fact_page(thread, after=after, limit=limit, types=wanted, run_id=run_id, turn_id=turn_id)
    note_read(actor, thread, "facts")
    items = [schemas.fact_item(thread, fact) for fact in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@threads_router.get(
    "/threads/{thread_id}/transcript", operation_id="getTranscript", response=TranscriptPage
)
@requires(READ)
def get_transcript(
    request: HttpRequest,
    thread_id: Uuid,
    as_of: Count | None = None,
    before: Count | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """The newest messages before a seq, also those that have left the working context."""
    actor = caller(request)
    thread = thread_detail(actor, thread_id)
    found = transcript(thread, as_of=as_of, before=before, limit=limit)
    note_read(actor, thread, "transcript")
    return reply(schemas.transcript_page(found))
