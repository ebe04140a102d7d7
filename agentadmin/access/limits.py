"""How much one caller may ask for: a bucket for each token or account, reads and writes apart.

The buckets are in Redis, where every web process sees them. While Redis is away each process keeps
its own: whoever asks too much is still slowed down, and nobody is refused because of it.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from redis import RedisError

from agentadmin.engine.errors import RateLimited
from agentadmin.redis import commands_sync

if TYPE_CHECKING:
    from redis import Redis
    from redis.commands.core import Script

    from agentadmin.access.actor import Actor

log = logging.getLogger(__name__)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# A request must not wait for its own limit.
PATIENCE = 0.25
AWAY = 5.0
MOST_BUCKETS = 10_000
_TAKE = """
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'left', 'at')
local left = tonumber(bucket[1]) or burst
local since = math.max(0, now - (tonumber(bucket[2]) or now))
left = math.min(burst, left + since * rate)
if left < 1 then
  return math.ceil((1 - left) / rate * 1000)
end
redis.call('HSET', KEYS[1], 'left', left - 1, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / rate * 1000) + 1000)
return 0
"""


def limit(actor: Actor, method: str) -> None:
    """Count one request of this caller. Raises `RateLimited` with the time to wait."""
    kind = "reads" if method in SAFE else "writes"
    rate, burst = settings.RATE_LIMITS[kind]
    caller = actor.token_id or f"user-{actor.id}"
    wait = _buckets(settings.REDIS_URL).take(f"aa:limit:{kind}:{caller}", rate, burst)
    if wait:
        seconds = max(1, math.ceil(wait / 1000))
        raise RateLimited(seconds, f"At most {rate} {kind} a second, {burst} at once.")


class Buckets:
    """The buckets in Redis, or those of this process while it is away."""

    def __init__(self, client: Redis) -> None:
        self._take: Script = client.register_script(_TAKE)
        self._own = OwnBuckets()
        self._back_at = 0.0

    def take(self, key: str, rate: float, burst: float) -> int:
        """Take one; the milliseconds to wait where there is none."""
        if time.monotonic() < self._back_at:
            return self._own.take(key, rate, burst)
        try:
            return int(self._take(keys=[key], args=[rate, burst]))
        except RedisError as error:
            self._back_at = time.monotonic() + AWAY
            log.warning("Rate limits are kept by each process: Redis does not answer: %s", error)
            return self._own.take(key, rate, burst)


class OwnBuckets:
    """The same in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str, rate: float, burst: float) -> int:
        """Take one; the milliseconds to wait where there is none."""
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) >= MOST_BUCKETS:
                self._buckets.clear()
            left, at = self._buckets.get(key, (burst, now))
            left = min(burst, left + (now - at) * rate)
            if left < 1:
                return math.ceil((1 - left) / rate * 1000)
            self._buckets[key] = (left - 1, now)
            return 0


@cache
def _buckets(url: str) -> Buckets:
    """One for each Redis that the settings have named in this process."""
    return Buckets(commands_sync(PATIENCE))
