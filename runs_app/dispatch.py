"""Telling the workers that a thread can go on; the sweep repeats what gets lost."""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction
from kombu.exceptions import OperationalError

from agentadmin.celery import app

log = logging.getLogger(__name__)

EXECUTE = "runs.execute"
"""The task's name: services know it, the task itself lives with the doors."""


def dispatch(thread_id: str) -> None:
    """Send the thread's id to the workers; without a broker the sweep will."""
    try:
        app.send_task(EXECUTE, args=(thread_id,), ignore_result=True)
    except (OperationalError, OSError) as error:
        log.warning("thread %s was not dispatched: %s", thread_id, error)


def dispatch_on_commit(thread_id: str) -> None:
    """Dispatch once the present transaction is committed."""
    transaction.on_commit(partial(dispatch, thread_id))
