"""Sessions over HTTP: list, create, import, export."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Count, Cursor, Json, Limit, Page, Uuid, one_of
from agentadmin.collector import collection_paused
from agentadmin.engine.clock import iso
from agentadmin.engine.state.interop import Format
from agentadmin.replies import reply
from sessions_app import schemas
from sessions_app.answers import SessionItem, SessionWhole
from sessions_app.policies import CREATE, EXPORT, IMPORT
from sessions_app.selectors.exporting import export_report, export_thread
from sessions_app.selectors.sessions import (
    SessionFilters,
    session_detail,
    session_page,
    session_threads,
)
from sessions_app.selectors.threads import thread_of_session
from sessions_app.services.documents import Given
from sessions_app.services.importing import Import, import_state
from sessions_app.services.sessions import NewSession, create_session, note_read
from sessions_app.states import ThreadStatus

sessions_router = Router()


@sessions_router.get("/sessions", operation_id="listSessions", response=Page[SessionItem])
@requires(READ)
def list_sessions(
    request: HttpRequest,
    q: str | None = None,
    agent_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    status: Annotated[str, one_of("", *ThreadStatus)] | None = None,
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """Sessions that the caller sees, newest change first; an empty `user_id` means nobody's."""
    filters = SessionFilters(
        q=q, agent_id=agent_id, user_id=user_id, session_id=session_id, status=status
    )
    page = session_page(caller(request), filters, cursor=cursor, limit=limit)
    items = [schemas.session_item(session) for session in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@sessions_router.post("/sessions", operation_id="createSession", response={201: SessionWhole})
@requires(CREATE)
def create(request: HttpRequest, body: schemas.CreateSession) -> HttpResponse:
    """A session with its first thread; 409 `session_exists` with the id of the other one."""
    new = NewSession(
        agent_id=body.agent_id,
        user_id=body.user_id,
        session_id=body.session_id,
        namespace=body.namespace,
    )
    actor = caller(request, body.request_id)
    session = create_session(actor=actor, new=new, request_id=body.request_id)
    return reply(schemas.session_whole(session, session_threads(session)), 201)


@sessions_router.post(
    "/sessions/import", operation_id="importSession", response={201: SessionWhole}
)
@requires(IMPORT)
def import_session(request: HttpRequest, body: schemas.ImportSession) -> HttpResponse:
    """A state of AgentScope or our own as a new session; 422 names the path of a bad field."""
    actor = caller(request, body.request_id)
    with collection_paused():
        session = import_state(actor=actor, wanted=_import(body), request_id=body.request_id)
    return reply(schemas.session_whole(session, session_threads(session)), 201)


def _import(body: schemas.ImportSession) -> Import:
    """What the body asks; it gives its state away, so that it is freed with the import."""
    given, body.state = Given(body.state), None
    return Import(
        document=given,
        format=body.format,
        namespace=body.namespace,
        agent_id=body.agent_id,
        user_id=body.user_id,
        session_id=body.session_id,
        thread_id=body.thread_id,
        permissions=body.permissions,
        place="state",
    )


@sessions_router.get("/sessions/{session_id}", operation_id="getSession", response=SessionWhole)
@requires(READ)
def get_session(request: HttpRequest, session_id: Uuid) -> HttpResponse:
    """A session with its threads."""
    session = session_detail(caller(request), session_id, READ)
    return reply(schemas.session_whole(session, session_threads(session)))


@sessions_router.get("/sessions/{session_id}/export", operation_id="exportSession", response=Json)
@requires(EXPORT)
def export_session(
    request: HttpRequest,
    session_id: Uuid,
    format: Annotated[str, one_of(*Format)] = "native",
    thread_id: Uuid | None = None,
    version: Count | None = None,
    *,
    report: bool = False,
) -> HttpResponse:
    """A state of `main`, or of the thread with this id, as a document: the newest unless told.

    Headers say which version it is and as of when; `Export-Losses` how many things the format
    cannot hold; `report=1` answers them instead of the document.
    """
    actor = caller(request)
    session = session_detail(actor, session_id, EXPORT)
    thread = thread_of_session(session, thread_id)
    note_read(actor, thread, "export")
    export = export_thread(thread, format, version=version)
    headers = {"Export-Losses": str(len(export.losses)), "Export-Version": str(export.version)}
    if export.as_of is not None:
        headers["Export-As-Of"] = iso(export.as_of)
    return reply(export_report(export) if report else export.value, headers=headers)
