"""What every test may ask for."""

import os
from collections.abc import Iterator

import pytest
from redis import Redis

from tests.services import folder, program, valkey
from tests.services.program import Program

pytest_plugins = ["tests.services.product", "tests.services.browser"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no server and no folder behind."""
    program.close_lifeline()
    folder.remove()


@pytest.fixture(scope="session", autouse=True)
def valkey_server() -> Iterator[Program]:
    """The test process's own Valkey; `settings.REDIS_URL` names it."""
    server = valkey.start(folder.FOLDER / "valkey")
    yield server
    server.stop()


@pytest.fixture
def redis_client(valkey_server: Program) -> Iterator["Redis[bytes]"]:
    """A synchronous client on an empty Valkey."""
    with Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushall()
        yield client
