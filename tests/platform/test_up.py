"""`manage.py up` starts everything, keeps it running, and takes it all down."""

import json
import os
import re
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentadmin import env
from tests.services.folder import FOLDER
from tests.services.product import until
from tests.services.program import Program
from tests.services.upping import Up

pytestmark = pytest.mark.live


def data_folder(name: str) -> Path:
    """A data folder whose demo counts as seeded: that has a test of its own."""
    data = FOLDER / name
    data.mkdir()
    (data / "demo-seeded").touch()
    return data


@pytest.fixture(scope="module")
def running() -> Iterator[Up]:
    up = Up(data_folder("up-shared"))
    try:
        yield up.ready()
    finally:
        up.close()


def test_one_line_says_where_and_one_how_to_sign_in(running: Up) -> None:
    assert f"AgentAdmin is ready at http://127.0.0.1:{running.port}\n" in running.said()
    assert re.search(r"^Sign in as admin with the password \S{16} ", running.said(), re.MULTILINE)


def test_what_is_written_is_private(running: Up) -> None:
    for part in ("logs", "valkey", "workspaces"):
        assert stat.S_IMODE((running.data / part).stat().st_mode) == 0o700
    for file in ("secret_key", "agentadmin.sqlite3", "logs/web.log"):
        assert stat.S_IMODE((running.data / file).stat().st_mode) == 0o600


def test_the_store_keeps_an_append_only_file(running: Up) -> None:
    assert list((running.data / "valkey" / "appendonlydir").iterdir())


def test_web_worker_scheduler_and_store_run(running: Up) -> None:
    for words in (["granian"], ["celery", "worker"], ["celery", "beat"]):
        until(lambda words=words: running.child("-m", *words), str(words))
    assert running.store_answers()


def test_every_line_of_a_process_of_ours_is_json(running: Up) -> None:
    for name in ("web", "worker", "scheduler"):
        log = running.data / "logs" / f"{name}.log"
        until(lambda log=log: log.is_file() and log.read_text(), name)
        written = log.read_text().splitlines(keepends=True)
        for line in (each for each in written if each.endswith("\n")):
            assert json.loads(line).keys() >= {"time", "level", "logger", "message"}


def test_a_second_up_on_the_same_folder_is_refused(running: Up) -> None:
    second = Up(running.data.with_name("up-shared"), port=None)
    second.output = running.data.with_suffix(".out")
    assert second.wait() == 1
    sentence = running.said().splitlines()[-1]
    assert sentence.startswith("AgentAdmin is already running on the data folder")
    assert f"(process {running.process.pid})" in sentence


def test_a_busy_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        up = Up(data_folder("up-busy"), port)
        assert up.wait() == 1
        assert up.said() == (
            f"The address 127.0.0.1:{port} cannot be used (Address already in use); "
            "set PORT to another.\n"
        )
        assert up.children() == []


def test_a_killed_worker_is_started_again_and_reported(running: Up) -> None:
    before = running.child("celery", "worker")
    assert before is not None
    before.kill()
    sentence = f"The worker (process {before.pid}) was ended by SIGKILL; starting it again"
    until(lambda: sentence in running.said(), "the loss is reported")
    again = until(lambda: running.child("celery", "worker"), "a worker runs again")
    assert again.pid != before.pid


def test_sigterm_stops_every_child_and_a_second_start_goes_on(valkey_server: Program) -> None:
    data = data_folder("up-term")
    first = Up(data, AGENTADMIN_ADMIN_PASSWORD="a password of mine").ready()
    assert "with the password of AGENTADMIN_ADMIN_PASSWORD." in first.said()
    first.process.send_signal(signal.SIGTERM)
    assert first.wait(7) == 0
    assert first.children() == []
    assert not env.socket_folder(data).exists()
    first.output.unlink()

    # With REDIS_URL set, no store of its own.
    second = Up(data, REDIS_URL=os.environ["REDIS_URL"])
    try:
        second.ready()
        assert "Sign in as admin with your password." in second.said()
        assert not second.store_answers()
    finally:
        second.close()


def test_no_child_outlives_a_killed_up() -> None:
    data = data_folder("up-kill")
    up = Up(data).ready()
    worker = up.child("celery", "worker")
    assert worker is not None
    worker.suspend()  # a process that cannot answer a request to end
    up.process.kill()
    up.wait()
    until(lambda: not up.children(), "every child is gone")
    assert not up.store_answers()

    again = Up(data)
    try:
        again.ready()
    finally:
        again.close()
