"""What every test may ask for."""

import os
from collections.abc import Iterator

import pytest
from asgiref.sync import SyncToAsync
from django.db import connection, connections
from pytest_django import DjangoDbBlocker
from redis import Redis

from tests.services import emptying, folder, program, valkey
from tests.services.program import Program

ONE_DATABASE = {"pages", "matrix", "contract", "live_stream"}
"""Folders whose tests reach the database only through what others try on both databases."""
BOTH_DATABASES = {
    *("test_sessions_page.py", "test_hostile_pages.py", "test_hostile_strings.py"),
    *("test_equivalence.py", "test_snapshot.py", "test_live_product.py"),
}
"""Files of theirs that are about what a database takes."""
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "product_processes"}
pytest_plugins = ["tests.services.product", "tests.services.browser"]


def pytest_configure() -> None:
    """Tests that commit are cleaned up after quickly."""
    emptying.install()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no server and no folder behind."""
    program.close_lifeline()
    folder.remove()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what touches the database, so that it runs on the other one too."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or names & DATABASE_FIXTURES:
            item.add_marker("database")
        if item.path.parent.name in ONE_DATABASE and item.path.name not in BOTH_DATABASES:
            item.add_marker("one_database")
        if "product_processes" in names:
            item.add_marker("live")
        if "chromium_browser" in names or item.path.parent.name == "browser":
            item.add_marker("browser")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """PostgreSQL keeps a database that somebody is connected to: idle threads are shown out."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


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


@pytest.fixture(autouse=True)
def no_connection_left_in_the_async_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Async tests reach the database from asgiref's thread, whose connection nobody else closes."""
    yield
    if request.node.get_closest_marker("django_db"):
        SyncToAsync.single_thread_executor.submit(connections.close_all).result()
