"""Liveness, readiness and metrics for load balancers and the people behind them."""

import logging
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST
from redis.exceptions import RedisError

from agentadmin.access.routes import PUBLIC, requires
from agentadmin.heartbeat import WORKER_KEY
from agentadmin.metrics import exposition
from agentadmin.redis import commands_sync

log = logging.getLogger(__name__)
OK = "ok"


def database() -> str:
    """`ok`, or what is wrong with the database."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        log.warning("readiness: database: %s", error)
        return "The database does not answer."
    return OK


def redis() -> str:
    """`ok`, or what is wrong with Redis."""
    try:
        with commands_sync() as client:
            client.ping()
    except (RedisError, OSError) as error:
        log.warning("readiness: Redis: %s", error)
        return "Redis does not answer."
    return OK


def worker() -> str:
    """`ok` while at least one worker has said within its lease that it lives."""
    try:
        with commands_sync() as client:
            return OK if client.exists(WORKER_KEY) else "No worker is running."
    except (RedisError, OSError):
        return "Redis does not answer, so no worker can be asked."


CHECKS: dict[str, Callable[[], str]] = {"database": database, "redis": redis, "worker": worker}


@requires(PUBLIC)
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": OK})


@requires(PUBLIC)
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Everything that a turn needs answers; 503 with one sentence per fault otherwise."""
    checks = {name: check() for name, check in CHECKS.items()}
    ready = all(said == OK for said in checks.values())
    body = {"status": OK if ready else "unavailable", "checks": checks}
    return JsonResponse(body, status=200 if ready else 503)


@requires(PUBLIC)
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text format, for all processes of the product together."""
    return HttpResponse(exposition.text(), content_type=CONTENT_TYPE_LATEST)
