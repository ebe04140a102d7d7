"""What a Celery worker process does besides tasks: the keeper's life follows the worker's."""

from __future__ import annotations

from typing import Any

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.db import connections

from runs_app.keeper import KEEPER
from runs_app.profiles import PROFILES
from runs_app.services.definitions import wake_defined


@worker_ready.connect
def start(**_: Any) -> None:
    """The worker takes tasks: keep their leases, look for stranded threads."""
    KEEPER.start()
    try:
        wake_defined(PROFILES.ids())
    finally:
        connections.close_all()


@worker_shutting_down.connect
def shut_down(**_: Any) -> None:
    """Celery waits for tasks and ignores its own soft shutdown here, so the runs are told."""
    KEEPER.shut_down()


@worker_shutdown.connect
def close(**_: Any) -> None:
    """All tasks have ended."""
    KEEPER.close()
