"""The two tasks: each carries an id; the rows say what to do."""

from __future__ import annotations

from asgiref.sync import async_to_sync

from agentadmin.celery import app
from agentadmin.logs import bound
from agentadmin.trace import start_trace
from runs_app import worker  # noqa: F401 - its signal handlers keep leases and end runs
from runs_app.dispatch import EXECUTE, RUN_JOB
from runs_app.executor import execute
from runs_app.jobs.runner import run_job


@app.task(name=EXECUTE, ignore_result=True, acks_late=True)
def execute_thread(thread_id: str) -> None:
    """Work on a thread. The loop is entered here and nowhere else (platform, finding 4)."""
    start_trace()
    with bound(thread_id=thread_id):
        async_to_sync(execute)(thread_id)


@app.task(name=RUN_JOB, ignore_result=True, acks_late=True)
def run_one_job(job_id: str) -> None:
    """Work on a job that somebody asked for."""
    start_trace()
    with bound(job_id=job_id):
        run_job(job_id)
