"""How far a job has come: told on its row, which also keeps its lease alive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from agentadmin.engine.clock import now
from sessions_app.models import Job
from sessions_app.states import JobState

LEASE = timedelta(seconds=60)


class JobStopped(Exception):  # noqa: N818 - nothing went wrong
    """Somebody stopped the job, or another worker has it: this one lets go."""


@dataclass(slots=True)
class Progress:
    """The row of a job that this process works on."""

    job: Job

    def say(self, step: str) -> None:
        """What the job does now, in words."""
        self._write(step=step)

    def count(self, done: int, total: int) -> None:
        """How much is done of how much; a job that counts can no longer be stopped."""
        self._write(done=done, total=total)

    def _write(self, **fields: object) -> None:
        mine = Job.objects.filter(
            id=self.job.id, state=JobState.RUNNING, attempts=self.job.attempts
        )
        if not mine.update(**fields, lease_until=now() + LEASE):
            raise JobStopped
