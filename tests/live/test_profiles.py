"""The production profile: PostgreSQL and Valkey over TCP, each with a password of odd characters.

What `make run` uses by itself, unix sockets for both, is what every other live test runs on.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings

from tests.live.conftest import Client
from tests.services import postgres, valkey
from tests.services.folder import FOLDER
from tests.services.product import free_port
from tests.services.upping import Up

pytestmark = pytest.mark.live

# Every character that an address gives a meaning.
PASSWORD = "p@ss:w/rd %2F#&?"

SAID = "zanzibar"


class Profile:
    """One `up` on servers of its own."""

    def __init__(self) -> None:
        database, self.database = postgres.start_tcp(free_port(), PASSWORD)
        store, self.redis = valkey.start_tcp(FOLDER / "tcp-valkey", free_port(), PASSWORD)
        self.servers = (database, store)
        data = FOLDER / "tcp-profile"
        data.mkdir(mode=0o700)
        (data / "demo-seeded").touch(0o600)
        self.environment = {"DATABASE_URL": self.database, "REDIS_URL": self.redis}
        self.up = Up(data, DATABASE_POOL="8", **self.environment)

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command beside the running product."""
        here = {"AGENTADMIN_DATA": str(self.up.data), **self.environment}
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "agentadmin.settings", **here},
            capture_output=True,
            text=True,
            check=False,
        )

    def http(self) -> httpx.Client:
        """An administrator's API client."""
        token = self.manage("create_token", "--user", "admin").stdout.strip()
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.up.port}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=20,
        )

    def close(self) -> None:
        self.up.close()
        for server in self.servers:
            server.stop()


@pytest.fixture(scope="module")
def profile() -> Iterator[Profile]:
    found = Profile()
    try:
        found.up.ready()
        yield found
    finally:
        found.close()


def test_the_doctor_finds_nothing_wrong(profile: Profile) -> None:
    done = profile.manage("doctor", "--json")
    told = json.loads(done.stdout)
    assert (told["ok"], done.returncode) == (True, 0), told
    details = {each["name"]: each["detail"] for each in told["checks"]}
    assert details["database"].startswith("PostgreSQL ")
    assert details["redis"].endswith(f"redis://{profile.redis.rpartition('@')[2]}")
    assert PASSWORD not in done.stdout


def test_no_embedded_server_runs_beside_it(profile: Profile) -> None:
    assert not profile.up.store_answers()
    assert not (profile.up.data / "agentadmin.sqlite3").exists()


def test_a_turn_runs_and_is_counted(profile: Profile) -> None:
    with profile.http() as http:
        client = Client(http)
        turn = client.wait(client.submit(f"/echo {SAID}"), "completed")
        assert turn["outcome"] == "done"
        assert client.reply() == SAID
        metrics = httpx.get(f"http://127.0.0.1:{profile.up.port}/metrics").text
    assert 'agentadmin_up{part="redis"} 1.0' in metrics
    assert 'route="/api/v1/threads/<thread_id>/turns",status="202"' in metrics


def test_logs_are_json_without_a_password_or_what_was_said(profile: Profile) -> None:
    for name in ("worker", "web"):
        text = (profile.up.data / "logs" / f"{name}.log").read_text()
        for hidden in (PASSWORD, "p%40ss", SAID):
            assert hidden not in text
    worker = (profile.up.data / "logs" / "worker.log").read_text().splitlines()
    ready = next(json.loads(line) for line in worker if " ready." in line)
    assert ready["logger"] == "celery.apps.worker"
