"""`REDIS_URL=sentinel://[:PASSWORD@]HOST:PORT[,HOST:PORT…]/NAME[/DB]`: who is primary is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.sentinel import Sentinel

SCHEME = "sentinel://"
PORT = 26379


@dataclass(frozen=True, slots=True)
class Address:
    """Where the sentinels are, which primary they watch, and how to sign in to that."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    db: int
    password: str | None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Raises ImproperlyConfigured where the address does not name what it must."""
        parts = urlsplit(url)
        credentials, _, hosts = parts.netloc.rpartition("@")
        name, _, db = parts.path.strip("/").partition("/")
        if not hosts or not name or not (db or "0").isdigit():
            raise ImproperlyConfigured(
                "A sentinel address is sentinel://[:PASSWORD@]HOST:PORT[,HOST:PORT…]/NAME[/DB]."
            )
        password = unquote(credentials.partition(":")[2]) or None
        found = tuple(_host(each) for each in hosts.split(","))
        return cls(found, unquote(name), int(db or 0), password)

    @property
    def broker(self) -> str:
        """The same as kombu spells it; the primary's name goes into `broker_options`."""
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return ";".join(f"{SCHEME}{secret}{host}:{port}/{self.db}" for host, port in self.hosts)


class _Primary(Redis):
    """Closes its connections to the sentinels as well."""

    def close(self) -> None:
        super().close()
        pool: Any = self.connection_pool
        for each in pool.sentinel_manager.sentinels:
            each.close()


class _AsyncPrimary(AsyncRedis):
    """The same for a loop."""

    async def aclose(self, close_connection_pool: bool | None = None) -> None:  # noqa: FBT001 - redis-py's own
        await super().aclose(close_connection_pool)
        pool: Any = self.connection_pool
        for each in pool.sentinel_manager.sentinels:
            await each.aclose()


def is_sentinel(url: str) -> bool:
    """Whether an address names sentinels; kombu's own spelling is left to kombu."""
    return url.startswith(SCHEME) and ";" not in url


def client(url: str, **timeouts: float | None) -> Redis:
    """A client of the primary, whoever it is at the moment."""
    address = Address.parse(url)
    asked: Any = Sentinel(address.hosts, sentinel_kwargs=timeouts)  # type: ignore[no-untyped-call]
    given = {**_of_primary(address), **timeouts}
    found: Redis = asked.master_for(address.name, redis_class=_Primary, **given)
    return found


def async_client(url: str, **timeouts: float | None) -> AsyncRedis:
    """The same for a loop."""
    address = Address.parse(url)
    asked: Any = AsyncSentinel(address.hosts, sentinel_kwargs=timeouts)  # type: ignore[no-untyped-call]
    given = {**_of_primary(address), **timeouts}
    found: AsyncRedis = asked.master_for(address.name, redis_class=_AsyncPrimary, **given)
    return found


def broker_options(url: str) -> dict[str, Any]:
    """What Celery needs besides the address."""
    return {"master_name": Address.parse(url).name} if is_sentinel(url) else {}


def _of_primary(address: Address) -> dict[str, Any]:
    return {"db": address.db, "password": address.password}


def _host(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ImproperlyConfigured(f"{text!r} is no host of a sentinel.")
    return parts.hostname, parts.port or PORT
