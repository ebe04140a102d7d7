"""The rows that mirror facts, as plain values, and the few statements that read and write them.

The recorder runs inside every commit of a run, so it speaks to the database without building
querysets: one read for the rows a batch usually needs, one write per row that changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from runs_app.models import Interaction, Run, Turn
from sessions_app.models import AgentThread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.backends.utils import CursorWrapper
    from django.db.models import Model

    from sessions_app.journal.heads import Writes
    from sessions_app.journal.sql import Dialect

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def plain(text: str, limit: int | None = None) -> str:
    """Text as every database stores it in a column; the fact keeps the exact one."""
    return _UNSTORABLE.sub("\ufffd", text[:limit])


@dataclass(slots=True)
class ThreadRow:
    """The columns of a thread that follow from its turns, runs and interactions."""

    id: str
    status: str
    active_run_id: str | None
    active_turn_id: str | None
    queued_turns: int
    pending_interactions: int
    runnable_since: datetime | None
    tokens: int
    turns: int


@dataclass(slots=True)
class TurnRow:
    """A row of `Turn`."""

    id: str
    thread_id: str
    start_seq: int
    state: str
    wait_kind: str | None
    wait_ids: str
    outcome: str | None
    revision: int
    request_id: str | None
    input_preview: str
    steering: str
    actor_name: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    attempts: int
    reply: str | None
    error: str | None


@dataclass(slots=True)
class RunRow:
    """A row of `Run`."""

    id: str
    thread_id: str
    turn_id: str | None
    attempt: int
    status: str
    worker: str
    why: str
    agent: str
    started_at: datetime
    ended_at: datetime | None
    reason: str | None
    tokens_in: int
    tokens_out: int
    model_calls: int
    first_error: str | None
    start_seq: int
    end_seq: int | None


@dataclass(slots=True)
class InteractionRow:
    """A row of `Interaction`."""

    id: str
    thread_id: str
    turn_id: str | None
    run_id: str | None
    seq: int
    kind: str
    tool: str
    call_id: str
    input: str
    call_hash: str
    suggested_rules: str
    choices: str
    because: str
    message: str
    status: str
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    created_at: datetime
    expires_at: datetime | None


class Together:
    """Statements that PostgreSQL takes as one message: no round trip for each.

    psycopg remembers how to bind a statement only up to 50 parameters, so no message has more.
    """

    MOST = 50

    def __init__(self, cursor: CursorWrapper) -> None:
        self._cursor = cursor
        self._statements: list[str] = []
        self._params: list[Any] = []

    def execute(self, sql: str, params: Sequence[Any]) -> None:
        """Keep a statement."""
        if len(self._params) + len(params) > self.MOST:
            self.send()
        self._statements.append(sql)
        self._params += params

    def send(self) -> None:
        """What is kept, in order; the first error ends it."""
        if self._statements:
            self._cursor.execute("; ".join(self._statements), self._params)
        self._statements, self._params = [], []


class Table[R]:
    """How one kind of row is read and written."""

    def __init__(self, model: type[Model], row: type[R]) -> None:
        self.name = model._meta.db_table
        self.row = row
        self.columns = tuple(field.name for field in fields(row))  # type: ignore[arg-type]
        self.values = attrgetter(*self.columns)
        self.uuids = frozenset(c for c in self.columns if _column_type(model, c) == "UUIDField")
        self.times = frozenset(c for c in self.columns if _column_type(model, c) == "DateTimeField")

    def read(self, words: Dialect, values: Sequence[Any]) -> R:
        """A row from the columns of a SELECT."""
        return self.row(
            *(
                words.read_time(v) if c in self.times and v is not None else _text_id(v, c, self)
                for c, v in zip(self.columns, values, strict=True)
            )
        )

    def param(self, words: Dialect, column: str, value: Any) -> Any:
        """A value as a parameter of a raw statement."""
        if value is None:
            return None
        if column in self.uuids:
            return words.uuid(value)
        return words.stamp(value) if column in self.times else value

    def selected(self, alias: str) -> str:
        """The columns for a SELECT."""
        return ", ".join(f"{alias}.{column}" for column in self.columns)

    def find(
        self, cursor: CursorWrapper, words: Dialect, where: str, params: list[Any]
    ) -> R | None:
        """The first row that matches."""
        cursor.execute(
            f"SELECT {self.selected('t')} FROM {self.name} t WHERE {where} LIMIT 1",  # noqa: S608
            params,
        )
        found = cursor.fetchone()
        return None if found is None else self.read(words, found)

    def insert(self, cursor: Writes, words: Dialect, row: R) -> None:
        """Write a new row."""
        places = ", ".join(["%s"] * len(self.columns))
        cursor.execute(
            f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({places})",  # noqa: S608
            [self.param(words, c, v) for c, v in zip(self.columns, self.values(row), strict=True)],
        )

    def update(self, cursor: Writes, words: Dialect, row: R, before: Sequence[Any]) -> list[str]:
        """Write the columns that changed; their names."""
        after = self.values(row)
        changed = [
            (c, self.param(words, c, new))
            for c, old, new in zip(self.columns, before, after, strict=True)
            if old != new
        ]
        if changed:
            sets = ", ".join(f"{column} = %s" for column, _ in changed)
            cursor.execute(
                f"UPDATE {self.name} SET {sets} WHERE id = %s",  # noqa: S608 - fixed words only
                [*(value for _, value in changed), self.param(words, "id", after[0])],
            )
        return [column for column, _ in changed]


def _column_type(model: type[Model], column: str) -> str:
    field = model._meta.get_field(column.removesuffix("_id") if column == "thread_id" else column)
    target = field.target_field if field.many_to_one else field  # type: ignore[union-attr]
    return target.get_internal_type()


def _text_id(value: Any, column: str, table: Table[Any]) -> Any:
    """Ids of threads are text everywhere in the engine."""
    if column not in table.uuids:
        return value
    text = str(value)
    if len(text) == 32:
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    return text


THREADS = Table(AgentThread, ThreadRow)
TURNS = Table(Turn, TurnRow)
RUNS = Table(Run, RunRow)
INTERACTIONS = Table(Interaction, InteractionRow)
