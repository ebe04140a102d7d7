"""The floor: the cheapest honest durable turn that anybody could write on the same database.

It reads the last 50 messages and appends two with a compare-and-swap of the version, in one
statement where the database has them.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

import orjson
import psycopg
from django.db import connection

from tests.bench.texts import text

TAIL = 50
HISTORY = 1000

CREATE = """
CREATE TABLE IF NOT EXISTS floor_session (id bigint PRIMARY KEY, version bigint NOT NULL);
CREATE TABLE IF NOT EXISTS floor_message
    (session bigint NOT NULL, seq bigint NOT NULL, body text NOT NULL, PRIMARY KEY (session, seq));
"""
READ = "SELECT body FROM floor_message WHERE session = 1 ORDER BY seq DESC LIMIT 50"
APPEND = """
WITH moved AS (
    UPDATE floor_session SET version = %s WHERE id = 1 AND version = %s RETURNING id
)
INSERT INTO floor_message SELECT id, seq, body FROM moved,
    (VALUES (%s::bigint, %s::text), (%s::bigint, %s::text)) AS new(seq, body)
"""


class Floor(Protocol):
    """One turn at the floor of a database."""

    def turn(self) -> None:
        """Read the tail, append two messages."""

    def append(self) -> None:
        """Only append them."""


def _body(number: int) -> str:
    return orjson.dumps({"id": f"m{number:08d}", "role": "user", "content": text(number)}).decode()


class PostgresFloor:
    """On a connection of its own, so that nothing of the product is in the way."""

    def __init__(self) -> None:
        parameters = {**connection.get_connection_params()}
        for name in ("pool", "cursor_factory", "context", "prepare_threshold"):
            parameters.pop(name, None)
        self._connection: Any = psycopg.connect(autocommit=True, **parameters)
        self._connection.execute(CREATE)
        self._connection.execute("INSERT INTO floor_session VALUES (1, %s)", [HISTORY])
        with self._connection.cursor() as cursor:
            rows = [(1, number, _body(number)) for number in range(HISTORY)]
            cursor.executemany("INSERT INTO floor_message VALUES (%s, %s, %s)", rows)
        self._version = HISTORY

    def turn(self) -> None:
        """Read the tail, append two messages."""
        rows = self._connection.execute(READ, prepare=True).fetchall()
        assert len([orjson.loads(body) for (body,) in rows]) == TAIL
        self.append()

    def append(self) -> None:
        """One statement."""
        at = self._version
        self._version += 2
        parameters = [at + 2, at, at, _body(at), at + 1, _body(at + 1)]
        assert self._connection.execute(APPEND, parameters, prepare=True).rowcount == 2

    def wal(self) -> int:
        """How many bytes of WAL this server has written since it was made."""
        return self.number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")

    def number(self, query: str) -> int:
        """The one figure that a query gives."""
        return int(self._connection.execute(query).fetchone()[0])

    def run(self, statement: str) -> None:
        """Any statement outside of the product's connection."""
        self._connection.execute(statement)


class SqliteFloor:
    """A file of its own beside the product's, with the same durability."""

    def __init__(self) -> None:
        name = f"{connection.settings_dict['NAME']}-floor"
        self._connection = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(CREATE)
        self._connection.execute("BEGIN")
        self._connection.execute("INSERT INTO floor_session VALUES (1, ?)", [HISTORY])
        rows = [(number, _body(number)) for number in range(HISTORY)]
        self._connection.executemany("INSERT INTO floor_message VALUES (1, ?, ?)", rows)
        self._connection.execute("COMMIT")
        self._version = HISTORY

    def turn(self) -> None:
        """Read the tail, append two messages."""
        rows = self._connection.execute(READ).fetchall()
        assert len([orjson.loads(body) for (body,) in rows]) == TAIL
        self.append()

    def append(self) -> None:
        """One short transaction."""
        at = self._version
        self._version += 2
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        moved = execute("UPDATE floor_session SET version = ? WHERE version = ?", [at + 2, at])
        assert moved.rowcount == 1
        for number in (at, at + 1):
            execute("INSERT INTO floor_message VALUES (1, ?, ?)", [number, _body(number)])
        execute("COMMIT")


def floor() -> Floor:
    """The floor of the configured database."""
    return SqliteFloor() if connection.vendor == "sqlite" else PostgresFloor()


def case(step: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    """A step of the floor as a case to be timed."""

    async def run() -> None:
        step()

    return run


def postgres() -> PostgresFloor:
    """The floor, known to be PostgreSQL's."""
    return cast("PostgresFloor", floor())
