"""The doctor against real faults: what it says, and that it never tells a secret."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection

from agentadmin.heartbeat import WORKER_KEY
from agentadmin.ops.checks import CHECKS
from agentadmin.ops.checks.databases import skew
from agentadmin.ops.doctor import Fault, State, examine

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture
def data(settings: Any, tmp_path: Path) -> Path:
    """A data folder as `up` makes it."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    key = folder / "secret_key"
    key.touch(0o600)
    key.write_text("k" * 50)
    settings.DATA = folder
    return folder


def said(name: str) -> tuple[str, str]:
    (found,) = examine({name: CHECKS[name]})
    return str(found.state), found.detail


@pytest.mark.django_db
def test_nothing_is_wrong_with_a_product_that_runs(data: Path, redis_client: Any) -> None:
    redis_client.set(WORKER_KEY, 1)
    out = StringIO()
    call_command("doctor", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["ok"] is True
    assert {each["name"]: each["state"] for each in told["checks"]} == dict.fromkeys(CHECKS, "ok")
    kind = "PostgreSQL 1" if connection.vendor == "postgresql" else "SQLite 3."
    assert told["checks"][0]["detail"].startswith(kind)


@pytest.mark.django_db
def test_a_missing_worker_is_a_fault_and_the_rest_is_still_told(
    data: Path, redis_client: Any
) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=r"^No worker is running, so no turn"):
        call_command("doctor", stdout=out)
    assert "redis clock" in out.getvalue()


def test_a_lost_redis_is_told_once_without_its_password(settings: Any) -> None:
    settings.REDIS_URL = settings.BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
    found = examine({name: CHECKS[name] for name in ("redis", "redis clock", "broker", "worker")})
    assert [each.state for each in found] == [
        State.FAULT,
        State.SKIPPED,
        State.OK,
        State.SKIPPED,
    ]
    assert found[0].detail.startswith("Redis does not answer at redis://127.0.0.1:1/0")


def test_a_lost_broker_is_told_without_its_password(settings: Any) -> None:
    settings.BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
    assert said("broker") == (
        "fault",
        "The broker does not answer at redis://127.0.0.1:1/0: correct BROKER_URL.",
    )


@pytest.mark.parametrize("name", ["secret_key", "logs/web.log"])
def test_what_others_can_read_is_named(data: Path, name: str) -> None:
    path = data / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch()
    path.chmod(0o644)
    assert said("permissions") == (
        "fault",
        f"{path} can be read by other users: run `chmod -R go-rwx {data}`.",
    )


def test_the_modes_of_what_tools_write_are_their_own(data: Path) -> None:
    written = data / "workspaces" / "t" / "note.txt"
    written.parent.mkdir(parents=True)
    (data / "workspaces").chmod(0o700)
    written.touch(0o644)
    assert said("permissions")[0] == "ok"


def test_a_key_that_does_not_last_or_is_short_is_a_fault(data: Path) -> None:
    (data / "secret_key").write_text("short")
    assert said("secret key")[1].startswith("The secret key is too short")
    (data / "secret_key").unlink()
    assert said("secret key")[1].startswith("There is no lasting secret key")


def test_a_full_disk_is_a_fault(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentadmin.ops.checks.files.ROOM", 2**60)
    assert said("disk space")[1].endswith(f"MB are left on the disk of {data}.")


@pytest.mark.parametrize(("seconds", "way"), [(5, "ahead of"), (-5, "behind")])
def test_a_clock_that_differs_is_told(seconds: int, way: str) -> None:
    with pytest.raises(Fault, match=f"The clock of the database is 5.0 s {way} this machine's"):
        skew(NOON, NOON + timedelta(seconds=seconds), NOON, "database")
    assert skew(NOON, NOON + timedelta(seconds=1), NOON + timedelta(seconds=2), "x") == "0 ms apart"


def test_from_a_shell_an_empty_database_and_an_open_file_are_two_sentences(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=django_settings.BASE_DIR,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
            "AGENTADMIN_DATA": str(tmp_path),
            "DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3",
            "SECRET_KEY": "x" * 50,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    wrong = done.stderr.strip().splitlines()
    assert [line.split(" (")[0].split(" can ")[0] for line in wrong] == [
        "The database lacks migrations",
        "No worker is running, so no turn will be executed: start one.",
        str(tmp_path),
    ]
