"""Telling the workers that a thread can go on; the sweep repeats what gets lost."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

from agentadmin.celery import app

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

EXECUTE = "runs.execute"
RUN_JOB = "jobs.run"
"""The tasks' names: services know them, the tasks themselves live with the doors."""

_kept_here: ContextVar[bool] = ContextVar("kept_here", default=False)


def dispatch(thread_id: str) -> None:
    """Send the thread's id to the workers; without a broker the sweep will."""
    if not _kept_here.get():
        _send(EXECUTE, thread_id)


def dispatch_job(job_id: str) -> None:
    """Send a job's id to the workers; without a broker the sweep will."""
    _send(RUN_JOB, job_id)


def _send(task: str, id_: str) -> None:
    try:
        app.send_task(task, args=(id_,), ignore_result=True)
    except (OperationalError, OSError) as error:
        log.warning("%s of %s was not dispatched: %s", task, id_, error)


def has_backlog() -> bool:
    """Whether messages wait for a free worker; without a broker there is nothing to wait for."""
    try:
        with app.connection_or_acquire() as connection:
            queue = connection.default_channel.queue_declare(
                queue=app.conf.task_default_queue, passive=True
            )
            return bool(queue.message_count)
    except (OperationalError, ChannelError, OSError):
        return False


def dispatch_on_commit(thread_id: str) -> None:
    """Dispatch once the present transaction is committed."""
    transaction.on_commit(partial(dispatch, thread_id))


@contextmanager
def keeping_work_here() -> Iterator[None]:
    """Send nothing while the block runs: who opened it executes the threads by itself."""
    token = _kept_here.set(True)
    try:
        yield
    finally:
        _kept_here.reset(token)
