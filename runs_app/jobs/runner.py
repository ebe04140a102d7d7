"""Claiming a job, doing it, and saying how it ended."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, Q

from agentadmin.engine.clock import now
from agentadmin.engine.errors import AgentAdminError
from runs_app.dispatch import dispatch_job
from runs_app.jobs.erasing import erase, give_up_erasing
from runs_app.jobs.progress import LEASE, JobStopped, Progress
from sessions_app.models import Job
from sessions_app.states import OPEN_JOBS, JobKind, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

GRACE = timedelta(seconds=5)
"""How long a dispatched message has before the sweep sends another one."""
MOST_ATTEMPTS = 5
UNEXPECTED = "It failed for a reason that the worker's log tells; it was tried {} times."

WORK: dict[str, Callable[[Progress], None]] = {JobKind.ERASE: erase}
"""What each kind of job does; it may be done again from the start, and ends its own row."""
GIVE_UP: dict[str, Callable[[Job], None]] = {JobKind.ERASE: give_up_erasing}
"""What has to be put back when a job fails before it has changed anything."""


def run_job(job_id: str) -> None:
    """Do a job, unless another worker is at it or it has ended."""
    if not _claim(job_id):
        return
    job = Job.objects.select_related("session").get(id=job_id)
    if job.attempts > MOST_ATTEMPTS:
        _fail(job, UNEXPECTED.format(MOST_ATTEMPTS))
        return
    try:
        WORK[job.kind](Progress(job))
    except JobStopped:
        log.info("job %s was stopped", job_id)
    except AgentAdminError as error:
        _fail(job, error.detail)
    except Exception:
        # The sweep gives it to another worker; a fault that stays ends it after a few attempts.
        log.exception("job %s failed", job_id)
        Job.objects.filter(id=job_id, attempts=job.attempts).update(lease_until=now() + GRACE)


def _claim(job_id: str) -> bool:
    at = now()
    free = Q(lease_until=None) | Q(lease_until__lt=at)
    mine = Job.objects.filter(free, id=job_id, state__in=OPEN_JOBS)
    claimed = mine.update(
        state=JobState.RUNNING, attempts=F("attempts") + 1, lease_until=at + LEASE, started_at=at
    )
    return bool(claimed)


def _fail(job: Job, detail: str) -> None:
    fields: dict[str, Any] = {"state": JobState.FAILED, "error": detail, "ended_at": now()}
    # An attempt that another worker has taken over may not end the other one's.
    mine = Job.objects.filter(id=job.id, state=JobState.RUNNING, attempts=job.attempts)
    if mine.update(**fields):
        GIVE_UP[job.kind](job)


def sweep_jobs() -> None:
    """Send out again what no worker has taken, or what a dead one has left."""
    at = now()
    untaken = Q(state=JobState.QUEUED, requested_at__lt=at - GRACE)
    left = Q(state=JobState.RUNNING, lease_until__lt=at)
    for job_id in Job.objects.filter(untaken | left).values_list("id", flat=True)[:50]:
        dispatch_job(str(job_id))
