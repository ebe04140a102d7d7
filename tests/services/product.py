"""The product's real processes for live tests: web, workers, Valkey, and a database of their own.

A live test takes `product`. Inside of it the test's own ORM looks at the product's database, and
nothing is flushed between tests: use fresh session ids. The processes serve all tests of a module
and are mended before each test, so a test may kill what it likes.
"""

import io
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections

from agentadmin.supervisor import probe, programs
from tests.services import postgres, valkey
from tests.services.folder import FOLDER
from tests.services.program import Program

LEASE = "1.2/0.3/0.2"
PASSWORD = "correct horse battery staple"
SECONDS = 20.0


def until[T](look: Callable[[], T], what: str, seconds: float = SECONDS) -> T:
    """Poll until there is a truthy answer; say what was missing after a while."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} s: {what}; last look: {found!r}")
        time.sleep(0.03)


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        port: int = probe_socket.getsockname()[1]
        return port


class Product:
    """The running product, seen from outside."""

    def __init__(self, folder: Path, database: str, **environment: str) -> None:
        self.data = folder
        self.folder = folder
        folder.mkdir(parents=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.password = PASSWORD
        self.token = ""
        self.environment = {
            "AGENTADMIN_DATA": str(folder),
            "AGENTADMIN_LEASE": LEASE,
            "DATABASE_URL": database,
            "DATABASE_POOL": "16",
            "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
            "REDIS_URL": f"unix://{folder}/valkey/valkey.sock",
            "SECRET_KEY": "live tests 0123456789 0123456789 0123456789 0123456789",
            "PYTHONPATH": str(settings.BASE_DIR),
            "PYTHONUNBUFFERED": "1",
            # A worker that fails this way fails the test that reads its log.
            "PYTHONWARNINGS": "default",
            **environment,
        }
        self.workers: dict[str, Program] = {}
        self.valkey: Program | None = None
        self.web: Program | None = None

    # --- Processes --------------------------------------------------------------------------

    def manage(self, *arguments: str, given: str = "") -> str:
        """Run a management command in a process of its own; its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env={**os.environ, **self.environment},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments[0]}: {done.stdout}{done.stderr}"
        return done.stdout

    def mend(self) -> None:
        """Valkey, web and exactly the worker `worker`, all alive and ready."""
        if self.valkey is None or not self.valkey.alive:
            self.valkey = valkey.start(self.folder / "valkey")
        for name in [n for n, w in self.workers.items() if n != "worker" or not w.alive]:
            self.workers.pop(name).stop()
        if "worker" not in self.workers:
            self.start_worker(wait=False)
        if self.web is None or not self.web.alive:
            self.start_web()
        self.wait_until_ready()

    def start_web(self) -> Program:
        """The web server; give it a moment (`wait_until_ready`)."""
        command = programs.web("127.0.0.1", self.port, settings.BASE_DIR / "static" / "dist")
        self.web = Program(command, self.folder / "web.log", env=self.environment)
        return self.web

    def start_worker(self, name: str = "worker", *, wait: bool = True) -> Program:
        """One more worker; `product.workers[name]` afterwards."""
        log = self.folder / f"{name}.log"
        seen = log.stat().st_size if log.is_file() else 0
        worker = Program(programs.worker(name, 8), log, env=self.environment)
        self.workers[name] = worker
        if wait:
            worker.wait_for(lambda: b" ready." in log.read_bytes()[seen:], name)
        return worker

    def stop_worker(self, name: str = "worker") -> None:
        """As `up` would: SIGTERM, then insist; `test_up` holds `up` to its five seconds."""
        self.workers.pop(name).stop(seconds=20)

    def wait_until_ready(self) -> None:
        """Every part answers `/readyz`."""

        def ready() -> bool:
            checks = probe.readiness("127.0.0.1", self.port)
            return bool(checks) and set(checks.values()) == {"ok"}

        try:
            until(ready, "the product is ready")
        except pytest.fail.Exception as failure:
            raise AssertionError(f"{failure}\n{self.logs()[-4000:]}") from None

    def stop(self) -> None:
        """Everything down."""
        programs_running = [*self.workers.values(), self.web]
        for program in filter(None, programs_running):
            if program.alive:
                program.process.send_signal(signal.SIGCONT)
                program.process.send_signal(signal.SIGTERM)
        for program in filter(None, [*programs_running, self.valkey]):
            program.stop(seconds=5)

    def logs(self, *names: str) -> str:
        """The logs of all programs, or of those named."""
        files = [self.folder / f"{n}.log" for n in names] or sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {f.name}\n{f.read_text(errors='replace')}" for f in files)

    # --- People -----------------------------------------------------------------------------

    def client(self, token: str | None = None) -> httpx.Client:
        """An API client with a token, the administrator's unless given."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=20)

    def create_operator(
        self, name: str, role: str, *, namespace: str = "*", agent: str = "*"
    ) -> None:
        """A user with the password `product.password`."""
        from agentadmin.access.actor import Actor
        from agentadmin.access.services import create_user

        actor = Actor.system("tests", trace_id="tests")
        create_user(
            actor=actor, name=name, password=PASSWORD, role=role, namespace=namespace, agent=agent
        )

    def create_token(self, name: str, *arguments: str) -> str:
        """A token of a user."""
        out = io.StringIO()
        call_command("create_token", "--user", name, *arguments, stdout=out)
        return out.getvalue().strip()


@pytest.fixture(scope="session")
def product_database() -> Iterator[str]:
    """The address of a migrated database that only the product's processes and live tests use."""
    name = f"product_{os.getpid()}"
    if connection.vendor == "sqlite":
        yield f"sqlite:///{FOLDER / name}.sqlite3"
        return
    yield postgres.create_database(name)
    postgres.drop_database(name)


@pytest.fixture(scope="module")
def product_processes(product_database: str, request: pytest.FixtureRequest) -> Iterator[Product]:
    """The product of this module, stopped after its last test."""
    product = Product(FOLDER / f"p{time.monotonic_ns()}", product_database)
    product.manage("migrate", "--verbosity", "0")
    yield product
    product.stop()


@pytest.fixture
def product(
    product_processes: Product, product_database: str, django_db_blocker: Any
) -> Iterator[Product]:
    """The running product, with this test's ORM on its database."""
    name = product_database.removeprefix("sqlite:///")
    if connection.vendor != "sqlite":
        name = f"product_{os.getpid()}"
    connection.close()
    before = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = name
    with django_db_blocker.unblock():
        _first_user(product_processes)
        product_processes.mend()
        yield product_processes
        for used in connections.all(initialized_only=True):
            used.close()
    connection.settings_dict["NAME"] = before


def _first_user(product: Product) -> None:
    if product.token:
        return
    from django.contrib.auth import get_user_model

    if not get_user_model().objects.filter(username="admin").exists():
        product.create_operator("admin", "admin")
    product.token = product.create_token("admin")
