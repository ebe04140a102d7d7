"""Sessions, threads, states, facts and controls over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.routes import requires
from agentadmin.engine.state import codec
from agentadmin.replies import reply
from sessions_app import schemas
from sessions_app.policies import CREATE, EXPORT, IMPORT
from sessions_app.selectors.controls import control_detail
from sessions_app.selectors.exporting import export_state
from sessions_app.selectors.facts import fact_page
from sessions_app.selectors.sessions import (
    SessionFilters,
    session_detail,
    session_page,
    session_threads,
)
from sessions_app.selectors.threads import state_at, thread_detail, thread_of_session
from sessions_app.selectors.transcript import transcript
from sessions_app.services.importing import Import, import_state
from sessions_app.services.outcome import completed
from sessions_app.services.sessions import NewSession, create_session, note_read
from sessions_app.services.update_state import update_agent_state
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor

sessions_router = Router()

# Answers are written by the codec; the types here tell the OpenAPI document their statuses.
Json = dict[str, Any]


def _actor(request: HttpRequest, request_id: str | None = None) -> Actor:
    """The caller, with the id that the request was given."""
    actor = cast("Actor", request.auth)  # type: ignore[attr-defined]
    return actor if request_id is None else replace(actor, request_id=request_id)


@sessions_router.get("/sessions", operation_id="listSessions")
@requires(READ)
def list_sessions(
    request: HttpRequest,
    q: str | None = None,
    agent_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> HttpResponse:
    """Sessions that the caller sees, newest change first; an empty `user_id` means nobody's."""
    filters = SessionFilters(
        q=q, agent_id=agent_id, user_id=user_id, session_id=session_id, status=status
    )
    page = session_page(_actor(request), filters, cursor=cursor, limit=limit)
    items = [schemas.session_item(session) for session in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@sessions_router.post("/sessions", operation_id="createSession", response={201: Json})
@requires(CREATE)
def create(request: HttpRequest, body: schemas.CreateSession) -> HttpResponse:
    """A session with its first thread; 409 `session_exists` with the id of the other one."""
    new = NewSession(
        agent_id=body.agent_id,
        user_id=body.user_id,
        session_id=body.session_id,
        namespace=body.namespace,
    )
    actor = _actor(request, body.request_id)
    session = create_session(actor=actor, new=new, request_id=body.request_id)
    return reply(schemas.session_whole(session, session_threads(session)), 201)


@sessions_router.post("/sessions/import", operation_id="importSession", response={201: Json})
@requires(IMPORT)
def import_session(request: HttpRequest, body: schemas.ImportSession) -> HttpResponse:
    """A state of AgentScope or our own as a new session; 422 names the path of a bad field."""
    wanted = Import(
        document=codec.dumps(body.state),
        format=body.format,
        namespace=body.namespace,
        agent_id=body.agent_id,
        user_id=body.user_id,
        session_id=body.session_id,
        thread_id=body.thread_id,
        permissions=body.permissions,
        place="state",
    )
    actor = _actor(request, body.request_id)
    session = import_state(actor=actor, wanted=wanted, request_id=body.request_id)
    return reply(schemas.session_whole(session, session_threads(session)), 201)


@sessions_router.get("/sessions/{session_id}", operation_id="getSession")
@requires(READ)
def get_session(request: HttpRequest, session_id: str) -> HttpResponse:
    """A session with its threads."""
    session = session_detail(_actor(request), session_id, READ)
    return reply(schemas.session_whole(session, session_threads(session)))


@sessions_router.get("/sessions/{session_id}/export", operation_id="exportSession")
@requires(EXPORT)
def export_session(
    request: HttpRequest, session_id: str, format: str = "native", thread_id: str | None = None
) -> HttpResponse:
    """The newest state of `main`, or of the thread with this id, as a document."""
    actor = _actor(request)
    session = session_detail(actor, session_id, EXPORT)
    thread = thread_of_session(session, thread_id)
    note_read(actor, thread, "export")
    return reply(export_state(thread, format))


@sessions_router.get("/threads/{thread_id}", operation_id="getThread")
@requires(READ)
def get_thread(request: HttpRequest, thread_id: str) -> HttpResponse:
    """A thread: its identity, head, lease and context."""
    return reply(schemas.thread_whole(thread_detail(_actor(request), thread_id)))


@sessions_router.get("/threads/{thread_id}/state", operation_id="getAgentState")
@requires(READ)
def get_agent_state(
    request: HttpRequest, thread_id: str, version: int | None = None
) -> HttpResponse:
    """The state at a version, else the newest committed one; the ETag names its version."""
    actor = _actor(request)
    thread = thread_detail(actor, thread_id)
    found = state_at(thread, version)
    note_read(actor, thread, "state")
    return reply(schemas.state_whole(found), headers={"ETag": f'"v{found.version}"'})


@sessions_router.patch(
    "/threads/{thread_id}/state",
    operation_id="updateAgentState",
    response={200: Json, 202: Json},
)
@requires(READ)
def update_state(request: HttpRequest, thread_id: str, body: schemas.UpdateState) -> HttpResponse:
    """Change a state by operations: 200 with what changed, 202 while a run holds the thread."""
    actor = _actor(request, body.request_id)
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


@sessions_router.get("/controls/{control_id}", operation_id="getControl")
@requires(READ)
def get_control(request: HttpRequest, control_id: str) -> HttpResponse:
    """A command to a thread: how far it has come, when, and with what result."""
    found = control_detail(_actor(request), control_id)
    whole = schemas.control_whole(found)
    if found.kind == ControlKind.EDIT and whole["result"]:
        whole["result"] = completed(whole["result"], found.thread)
    return reply(whole)


@sessions_router.get("/threads/{thread_id}/facts", operation_id="listFacts")
@requires(READ)
def list_facts(
    request: HttpRequest,
    thread_id: str,
    after: int = 0,
    limit: int = 50,
    types: str = "",
    run_id: str | None = None,
    turn_id: str | None = None,
) -> HttpResponse:
    """Journal facts in `seq` order; `types` are separated by commas."""
    actor = _actor(request)
    thread = thread_detail(actor, thread_id)
    wanted = [name for name in types.split(",") if name]
    page = fact_page(thread, after=after, limit=limit, types=wanted, run_id=run_id, turn_id=turn_id)
    note_read(actor, thread, "facts")
    items = [schemas.fact_item(thread, fact) for fact in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@sessions_router.get("/threads/{thread_id}/transcript", operation_id="getTranscript")
@requires(READ)
def get_transcript(
    request: HttpRequest,
    thread_id: str,
    as_of: int | None = None,
    before: int | None = None,
    limit: int = 50,
) -> HttpResponse:
    """The newest messages before a seq, also those that have left the working context."""
    actor = _actor(request)
    thread = thread_detail(actor, thread_id)
    found = transcript(thread, as_of=as_of, before=before, limit=limit)
    note_read(actor, thread, "transcript")
    return reply(schemas.transcript_page(found))
