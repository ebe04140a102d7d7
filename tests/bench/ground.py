"""The databases of a benchmark run: fresh ones, with the durability that a user would have."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.services import postgres, valkey
from tests.services.folder import FOLDER

if TYPE_CHECKING:
    from tests.services.program import Program

BASE = Path(__file__).resolve().parent.parent.parent
DURABLE = ("fsync=on", "synchronous_commit=on")


class Ground:
    """Makes a migrated database for each part, out of one that was migrated once."""

    def __init__(self) -> None:
        self._server = ""
        self._sqlite = FOLDER / "template.sqlite3"
        self._store: Program | None = None

    def environment(self, part: str, database: str) -> dict[str, str]:
        """What a part's process sees."""
        self._store = self._store or valkey.start(FOLDER / "valkey")
        found = {
            "AGENTADMIN_DATA": str(FOLDER / "data"),
            "DJANGO_SETTINGS_MODULE": "agentadmin.settings",
            "REDIS_URL": f"unix://{FOLDER}/valkey/valkey.sock",
            "SECRET_KEY": "the benchmarks' own key, of no value to anybody 0123456789",
            "LOG_LEVEL": "WARNING",
        }
        if database == "postgres":
            found["DATABASE_URL"] = self._postgres(part, found)
        elif database == "sqlite":
            found["DATABASE_URL"] = self._copy(part, found)
        return found

    def _postgres(self, part: str, environment: dict[str, str]) -> str:
        if not self._server:
            self._server = postgres.start(*DURABLE)
            self._run(f"CREATE DATABASE {TEMPLATE}")
            _migrate({**environment, "DATABASE_URL": self._address(TEMPLATE)})
        name = f"bench_{part}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return self._address(name)

    def _run(self, statement: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _address(self, name: str) -> str:
        return self._server.replace("/postgres?", f"/{name}?")

    def _copy(self, part: str, environment: dict[str, str]) -> str:
        if not self._sqlite.exists():
            _migrate({**environment, "DATABASE_URL": f"sqlite:///{self._sqlite}"})
        copy = FOLDER / f"{part}.sqlite3"
        shutil.copy(self._sqlite, copy)
        return f"sqlite:///{copy}"

    def stop(self) -> None:
        """The store; the rest dies with this process."""
        if self._store is not None:
            self._store.stop()


TEMPLATE = "bench_template"


def _migrate(environment: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=BASE, env={**os.environ, **environment}, check=True)
