"""Redis, the broker and the workers: whether they answer, and what time they have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from kombu import Connection
from kombu.exceptions import OperationalError
from redis.exceptions import AuthenticationError, RedisError

from agentadmin.engine.clock import now
from agentadmin.heartbeat import WORKER_KEY
from agentadmin.ops.checks.databases import skew
from agentadmin.ops.doctor import Fault, Skipped
from agentadmin.redis import broker_url, commands_sync
from agentadmin.sentinel import broker_options

if TYPE_CHECKING:
    from redis import Redis

# redis-py speaks RESP3.
OLDEST = 6


def redis_answers() -> str:
    """Ping it, and look at its version."""
    try:
        with commands_sync() as client:
            client.ping()
            found = client.info("server")
    except AuthenticationError as error:
        raise Fault(f"Redis at {_place(settings.REDIS_URL)} refuses the password.") from error
    except (RedisError, OSError) as error:
        raise Fault(
            f"Redis does not answer at {_place(settings.REDIS_URL)}: "
            "start it (`manage.py up` brings its own), or correct REDIS_URL."
        ) from error
    version = str(found.get("valkey_version") or found.get("redis_version") or "0")
    name = "Valkey" if "valkey_version" in found else "Redis"
    if int(version.partition(".")[0]) < OLDEST:
        raise Fault(f"{name} {version} is too old: {OLDEST}.0 or newer is needed.")
    return f"{name} {version}, {_place(settings.REDIS_URL)}"


def redis_clock() -> str:
    """Entries of live streams carry its time."""
    try:
        with commands_sync() as client:
            before = now()
            seconds, micros = _time(client)
    except (RedisError, OSError) as error:
        raise Skipped("Redis does not answer.") from error
    theirs = datetime.fromtimestamp(seconds + micros / 1_000_000, UTC)
    return skew(before, theirs, now(), "Redis server")


def _time(client: Redis) -> tuple[int, int]:
    seconds, micros = client.time()
    return int(seconds), int(micros)


def broker_answers() -> str:
    """Celery's broker, where it is another server."""
    if settings.BROKER_URL == settings.REDIS_URL:
        return "the same as Redis"
    try:
        options = broker_options(settings.BROKER_URL)
        with Connection(
            broker_url(settings.BROKER_URL), connect_timeout=2, transport_options=options
        ) as connection:
            connection.ensure_connection(max_retries=1, timeout=2)
    except (OperationalError, OSError, ValueError) as error:
        raise Fault(
            f"The broker does not answer at {_place(settings.BROKER_URL)}: correct BROKER_URL."
        ) from error
    return _place(settings.BROKER_URL)


def worker_lives() -> str:
    """At least one worker has said within seconds that it lives."""
    try:
        with commands_sync() as client:
            if client.exists(WORKER_KEY):
                return "at least one"
    except (RedisError, OSError) as error:
        raise Skipped("Redis does not answer, so no worker can be asked.") from error
    raise Fault("No worker is running, so no turn will be executed: start one.")


def _place(url: str) -> str:
    """An address without its user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
