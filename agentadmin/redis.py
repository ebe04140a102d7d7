"""The one factory of Redis clients.

redis-py 8 gives every client a socket timeout of 5 s, which kills any read that blocks longer, and
an asynchronous client belongs to the loop it is first used in: make it there, `aclose()` it there.
"""

from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from agentadmin import sentinel

TIMEOUT = 2.0


def commands() -> AsyncRedis:
    """A client for commands that answer at once."""
    return _async_client(TIMEOUT)


def reader() -> AsyncRedis:
    """A client that may block for as long as it likes: one per web process."""
    return _async_client(None)


def commands_sync(timeout: float = TIMEOUT) -> Redis:
    """The same as `commands`, for code outside of a loop."""
    url = settings.REDIS_URL
    if sentinel.is_sentinel(url):
        return sentinel.client(url, socket_timeout=timeout, socket_connect_timeout=timeout)
    return Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)


def _async_client(timeout: float | None) -> AsyncRedis:
    url = settings.REDIS_URL
    if sentinel.is_sentinel(url):
        return sentinel.async_client(url, socket_timeout=timeout, socket_connect_timeout=TIMEOUT)
    return AsyncRedis.from_url(url, socket_timeout=timeout, socket_connect_timeout=TIMEOUT)


def broker_url(url: str) -> str:
    """A Redis address as kombu spells it: it knows `redis+socket:` where redis-py knows `unix:`."""
    if sentinel.is_sentinel(url):
        return sentinel.Address.parse(url).broker
    if not url.startswith("unix://"):
        return url
    path, _, query = url.removeprefix("unix://").partition("?")
    query = query.replace("db=", "virtual_host=")
    return f"redis+socket://{path}?{query or 'virtual_host=0'}"
