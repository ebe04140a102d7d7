"""The one task: it carries a thread's id; the rows say what to do."""

from __future__ import annotations

from asgiref.sync import async_to_sync

from agentadmin.celery import app
from runs_app import worker  # noqa: F401 - its signal handlers keep leases and end runs
from runs_app.dispatch import EXECUTE
from runs_app.executor import execute


@app.task(name=EXECUTE, ignore_result=True, acks_late=True)
def execute_thread(thread_id: str) -> None:
    """Work on a thread. The loop is entered here and nowhere else (platform, finding 4)."""
    async_to_sync(execute)(thread_id)
