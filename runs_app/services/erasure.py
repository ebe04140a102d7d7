"""Asking for the erasure of a session, and stopping one that has not begun."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.clock import now
from agentadmin.engine.errors import Conflict, SessionErased
from runs_app.dispatch import dispatch_job
from sessions_app import mailbox
from sessions_app.models import AgentSession, Job
from sessions_app.policies import ERASE, session_target
from sessions_app.selectors.jobs import job_detail
from sessions_app.selectors.sessions import session_detail
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.reasons import checked_reason
from sessions_app.states import OPEN_JOBS, JobKind, JobState

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor


def request_erasure(
    *, actor: Actor, session_id: object, reason: str | None, request_id: str | None = None
) -> Job:
    """Have a worker erase a session: from now on it takes no command.

    Raises SessionErased when that was done, or asked for, before.
    """
    session = session_detail(actor, session_id, ERASE)
    why = checked_reason(reason)
    once = Once.of(actor, "eraseSession", str(session.id), request_id, {"reason": why})
    if first := once.answered():
        return Job.objects.get(id=first.body["job_id"])
    try:
        return _request(actor, session, why, once)
    except IntegrityError:
        if first := once.answered():
            return Job.objects.get(id=first.body["job_id"])
        raise


@transaction.atomic
def _request(actor: Actor, session: AgentSession, reason: str, once: Once) -> Job:
    at = now()
    # The row is locked: of two requests for one session the second is refused.
    AgentSession.objects.select_for_update().get(id=session.id)
    if not AgentSession.objects.filter(_erasable(), id=session.id).update(erasing_since=at):
        raise SessionErased
    job = Job.objects.create(
        kind=JobKind.ERASE,
        session=session,
        actor=mailbox.actor_text(actor),
        actor_name=actor.name,
        reason=reason,
        requested_at=at,
    )
    once.remember(Answer(202, {"job_id": str(job.id)}))
    transaction.on_commit(partial(dispatch_job, str(job.id)))
    _audit(actor, job, "sessions.erase_request", Outcome.ALLOWED)
    return job


def _erasable() -> Q:
    """Sessions that nobody erases; also one whose erasure failed half-way, so that it can end."""
    jobs = Job.objects.filter(session=OuterRef("id"), kind=JobKind.ERASE)
    return Q(erasing_since=None) | Q(
        ~Exists(jobs.filter(state__in=[*OPEN_JOBS, JobState.COMPLETED])), erased_at=None
    )


def stop_job(*, actor: Actor, job_id: object, reason: str | None) -> Job:
    """Stop a job before it has erased anything; half an erasure would help nobody."""
    job = job_detail(actor, job_id, ERASE)
    why = checked_reason(reason)
    with transaction.atomic():
        waiting = Job.objects.filter(id=job.id, state__in=OPEN_JOBS, total=0)
        if not waiting.update(state=JobState.STOPPED, ended_at=now(), stop_requested_at=now()):
            job.refresh_from_db()
            raise Conflict(_too_late(job))
        AgentSession.objects.filter(id=job.session_id).update(erasing_since=None)
        _audit(actor, job, "jobs.stop", Outcome.ALLOWED, why)
    job.refresh_from_db()
    return job


def _too_late(job: Job) -> str:
    if job.state == JobState.RUNNING:
        return "It has begun to erase, and half an erasure would help nobody."
    return f"The job has ended: {job.state}."


def _audit(
    actor: Actor, job: Job, action: str, outcome: Outcome, reason: str | None = None
) -> None:
    append(
        NewEntry(
            namespace=job.session.namespace,
            actor=actor,
            action=action,
            target=session_target(job.session),
            outcome=outcome,
            reason=reason or job.reason,
            content={"job_id": str(job.id), "kind": job.kind},
        )
    )
