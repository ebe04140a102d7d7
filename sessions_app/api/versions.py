"""Versions over HTTP: which there are, what differs between two, and a fork of one."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Count, Cursor, Limit, Page, Uuid
from agentadmin.replies import reply
from sessions_app import schemas, version_schemas
from sessions_app.answers import SessionWhole
from sessions_app.policies import FORK
from sessions_app.selectors.checkpoints import checkpoint_page
from sessions_app.selectors.comparison import compare
from sessions_app.selectors.sessions import session_detail, session_threads
from sessions_app.selectors.threads import thread_detail, thread_of_session
from sessions_app.services.fork import Fork, fork_session
from sessions_app.services.sessions import note_read

versions_router = Router()


@versions_router.get(
    "/threads/{thread_id}/checkpoints",
    operation_id="listCheckpoints",
    response=Page[version_schemas.CheckpointItem],
)
@requires(READ)
def list_checkpoints(
    request: HttpRequest, thread_id: Uuid, cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """The versions of a thread's state, newest first: who, when, why, what, and how much."""
    actor = caller(request)
    thread = thread_detail(actor, thread_id)
    page = checkpoint_page(thread, cursor=cursor, limit=limit)
    note_read(actor, thread, "checkpoints")
    items = [version_schemas.checkpoint_item(found) for found in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@versions_router.get(
    "/threads/{thread_id}/diff",
    operation_id="diffStates",
    response=version_schemas.Compared,
    by_alias=True,
)
@requires(READ)
def diff_states(
    request: HttpRequest,
    thread_id: Uuid,
    before: Annotated[Count | None, Query(alias="from")] = None,
    to: Count | None = None,
    other: Uuid | None = None,
) -> HttpResponse:
    """What differs between two versions; `other` is the thread whose version `to` is.

    Without `to` the newest version, without `from` the one before it; 0 is the empty state.
    """
    actor = caller(request)
    thread = thread_detail(actor, thread_id)
    second = None if other is None else thread_detail(actor, other)
    found = compare(thread, before, to, other=second)
    for side in {found.before.thread.id: found.before, found.after.thread.id: found.after}.values():
        note_read(actor, side.thread, "state")
    return reply(version_schemas.compared(found))


@versions_router.post(
    "/sessions/{session_id}/fork", operation_id="forkSession", response={201: SessionWhole}
)
@requires(FORK)
def fork(request: HttpRequest, session_id: Uuid, body: version_schemas.ForkSession) -> HttpResponse:
    """A new session from a version; 409 while a run, a question or an unknown outcome is open."""
    actor = caller(request, body.request_id)
    session = session_detail(actor, session_id, FORK)
    given = Fork(
        thread=thread_of_session(session, body.thread_id),
        version=body.version,
        session_id=body.session_id,
        reason=body.reason,
    )
    made = fork_session(actor=actor, fork=given, request_id=body.request_id)
    return reply(schemas.session_whole(made, session_threads(made)), 201)
