"""Jobs over HTTP: erase a session, and see how far it is."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router

from agentadmin.access.actor import READ
from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Answer, Body, Cursor, Limit, Page, Time, Uuid, one_of
from agentadmin.replies import reply
from runs_app.schemas import job_item
from runs_app.services.erasure import request_erasure, stop_job
from sessions_app.policies import ERASE
from sessions_app.selectors.jobs import job_detail, job_page
from sessions_app.states import JobKind, JobState

jobs_router = Router()


class Reasoned(Body):
    """Why it is done; kept in the audit log."""

    reason: str | None = None
    request_id: str | None = None


class JobStarted(Answer):
    """The job that does it; `GET /jobs/{id}` follows it."""

    job_id: Uuid


class JobItem(Answer):
    """What a worker does at length, and how far it has come."""

    id: Uuid
    kind: JobKind
    state: JobState
    session_id: Uuid
    step: str
    done: int
    total: int
    reason: str
    by: str
    error: str | None
    result: dict[str, object] | None
    requested_at: Time
    started_at: Time | None
    ended_at: Time | None


@jobs_router.post(
    "/sessions/{session_id}/erase", operation_id="eraseSession", response={202: JobStarted}
)
@requires(ERASE)
def erase_session(request: HttpRequest, session_id: Uuid, body: Reasoned) -> HttpResponse:
    """Have a worker erase what was said in a session; that it happened stays provable."""
    actor = caller(request, body.request_id)
    job = request_erasure(
        actor=actor, session_id=session_id, reason=body.reason, request_id=body.request_id
    )
    return reply({"job_id": str(job.id)}, 202)


@jobs_router.get("/jobs", operation_id="listJobs", response=Page[JobItem])
@requires(READ)
def list_jobs(
    request: HttpRequest,
    state: Annotated[str | None, one_of("", *JobState)] = None,
    cursor: Cursor | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    """Jobs on sessions that the caller sees, the newest first."""
    page = job_page(caller(request), state=state, cursor=cursor, limit=limit)
    items = [job_item(job) for job in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@jobs_router.get("/jobs/{job_id}", operation_id="getJob", response=JobItem)
@requires(READ)
def get_job(request: HttpRequest, job_id: Uuid) -> HttpResponse:
    """A job: its progress and, at its end, what came of it."""
    return reply(job_item(job_detail(caller(request), job_id)))


@jobs_router.post("/jobs/{job_id}/stop", operation_id="stopJob", response=JobItem)
@requires(ERASE)
def stop(request: HttpRequest, job_id: Uuid, body: Reasoned) -> HttpResponse:
    """Stop a job that has not changed anything yet."""
    job = stop_job(actor=caller(request), job_id=job_id, reason=body.reason)
    return reply(job_item(job))
