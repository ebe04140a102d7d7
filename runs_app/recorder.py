"""The only writer of turns, runs and interactions: rows from facts, inside the facts' commit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connections, transaction
from django.db.models import Q

from runs_app.fold import FOLDED_TYPES, fold
from runs_app.heads import Heads, Kept
from runs_app.rows import (
    INTERACTIONS,
    RUNS,
    THREADS,
    TURNS,
    InteractionRow,
    RunRow,
    Table,
    ThreadRow,
    Together,
    TurnRow,
)
from runs_app.states import TurnState
from runs_app.stream import published
from sessions_app.journal import DjangoThreadJournal, heads
from sessions_app.journal.rows import read_facts
from sessions_app.journal.sql import dialect

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from django.db.backends.utils import CursorWrapper

    from agentadmin.engine.journal.base import Committed, ThreadRef
    from agentadmin.engine.journal.facts import Fact
    from sessions_app.journal.heads import Writes
    from sessions_app.journal.sql import Dialect

SESSION_COLUMNS = frozenset({"status", "pending_interactions", "tokens"})
"""The columns of a thread that its session's row repeats."""
IN_LINE = (TurnState.QUEUED, TurnState.PAUSED)
"""How a turn that is not the head stands while it has not ended."""
PAGE = 2000


@dataclass(slots=True)
class Shelf[R]:
    """The rows of one table that a batch touches, and what they were before it."""

    table: Table[R]
    rows: dict[str, R | None] = field(default_factory=dict)
    before: dict[str, Sequence[Any]] = field(default_factory=dict)

    def hold(self, id_: str, row: R | None) -> R | None:
        """Keep a row as it stands in the database."""
        self.rows[id_] = row
        if row is not None:
            self.before[id_] = self.table.values(row)
        return row

    def write(self, cursor: Writes, words: Dialect) -> None:
        """Insert what is new, update what changed."""
        for id_, row in self.rows.items():
            if row is None:
                continue
            if id_ in self.before:
                self.table.update(cursor, words, row, self.before[id_])
            else:
                self.table.insert(cursor, words, row)


class DatabaseBook:
    """The rows of one thread, read when a fact asks for them, written once at the end."""

    def __init__(
        self, cursor: CursorWrapper, words: Dialect, thread_id: str, kept: Kept | None = None
    ) -> None:
        self._cursor = cursor
        self._words = words
        self._turns = Shelf(TURNS)
        self._runs = Shelf(RUNS)
        self._interactions = Shelf(INTERACTIONS)
        self.thread = self._read_head(thread_id) if kept is None else self._known_head(kept)
        self._thread_before = THREADS.values(self.thread)

    def _read_head(self, thread_id: str) -> ThreadRow:
        """The thread with its head turn and its active run, in one read."""
        n, m = len(THREADS.columns), len(TURNS.columns)
        self._cursor.execute(
            f"SELECT {THREADS.selected('h')}, {TURNS.selected('t')}, {RUNS.selected('r')} "  # noqa: S608
            f"FROM {THREADS.name} h LEFT JOIN {TURNS.name} t ON t.id = h.active_turn_id "
            f"LEFT JOIN {RUNS.name} r ON r.id = h.active_run_id WHERE h.id = %s",
            [self._words.uuid(thread_id)],
        )
        found = self._cursor.fetchone()
        if found[n] is not None:
            self._turns.hold(found[n], TURNS.read(self._words, found[n : n + m]))
        if found[n + m] is not None:
            self._runs.hold(found[n + m], RUNS.read(self._words, found[n + m :]))
        return THREADS.read(self._words, found[:n])

    def _known_head(self, kept: Kept) -> ThreadRow:
        if kept.turn is not None:
            self._turns.hold(kept.turn[0], TurnRow(*kept.turn))
        if kept.run is not None:
            self._runs.hold(kept.run[0], RunRow(*kept.run))
        return ThreadRow(*kept.thread)

    def kept(self, seq: int) -> Kept:
        """The head as it stands after this batch."""
        turn = self._turns.rows.get(self.thread.active_turn_id or "")
        run = self._runs.rows.get(self.thread.active_run_id or "")
        return Kept(
            seq,
            THREADS.values(self.thread),
            None if turn is None else TURNS.values(turn),
            None if run is None else RUNS.values(run),
        )

    def turn(self, id_: str) -> TurnRow | None:
        """The turn, if it belongs to this thread."""
        return self._find(self._turns, id_)

    def run(self, id_: str) -> RunRow | None:
        """The run, if it belongs to this thread."""
        return self._find(self._runs, id_)

    def interaction(self, id_: str) -> InteractionRow | None:
        """The interaction, if it belongs to this thread."""
        return self._find(self._interactions, id_)

    def _find[R](self, shelf: Shelf[R], id_: str) -> R | None:
        if id_ in shelf.rows:
            return shelf.rows[id_]
        where = "t.id = %s AND t.thread_id = %s"
        params = [id_, self._words.uuid(self.thread.id)]
        return shelf.hold(id_, shelf.table.find(self._cursor, self._words, where, params))

    def next_in_line(self, after: int) -> TurnRow | None:
        """The oldest turn behind a place that has to begin; rows of this batch as they stand."""
        # A batch that ends the head and changes the queue behind it first writes what it knows.
        self._turns.write(self._cursor, self._words)
        self._turns.before = {k: TURNS.values(r) for k, r in self._turns.rows.items() if r}
        found = TURNS.find(
            self._cursor,
            self._words,
            "t.thread_id = %s AND t.start_seq > %s AND t.state IN (%s, %s) ORDER BY t.start_seq",
            [self._words.uuid(self.thread.id), after, *map(str, IN_LINE)],
        )
        if found is None:
            return None
        return self._turns.rows.get(found.id) or self._turns.hold(found.id, found)

    def add_turn(self, row: TurnRow) -> None:
        """Keep a new turn."""
        self._turns.rows[row.id] = row

    def add_run(self, row: RunRow) -> None:
        """Keep a new run."""
        self._runs.rows[row.id] = row

    def add_interaction(self, row: InteractionRow) -> None:
        """Keep a new interaction."""
        self._interactions.rows[row.id] = row

    def save(self, cursor: Writes, at: datetime) -> None:
        """Write everything that changed; the session's row follows where it repeats it."""
        for shelf in (self._turns, self._runs, self._interactions):
            shelf.write(cursor, self._words)
        changed = THREADS.update(cursor, self._words, self.thread, self._thread_before)
        if not SESSION_COLUMNS.isdisjoint(changed):
            heads.write_session(cursor, self._words, self.thread.id, at)


class MemoryBook:
    """The rows of one thread, built from nothing: what a rebuild folds into."""

    def __init__(self, thread_id: str) -> None:
        self.thread = ThreadRow(thread_id, "idle", None, None, 0, 0, None, 0, 0)
        self.turns: dict[str, TurnRow] = {}
        self.runs: dict[str, RunRow] = {}
        self.interactions: dict[str, InteractionRow] = {}

    def turn(self, id_: str) -> TurnRow | None:
        """The turn."""
        return self.turns.get(id_)

    def run(self, id_: str) -> RunRow | None:
        """The run."""
        return self.runs.get(id_)

    def interaction(self, id_: str) -> InteractionRow | None:
        """The interaction."""
        return self.interactions.get(id_)

    def next_in_line(self, after: int) -> TurnRow | None:
        """The oldest turn behind a place that has to begin."""
        waiting = (t for t in self.turns.values() if t.state in IN_LINE and t.start_seq > after)
        return min(waiting, key=lambda turn: turn.start_seq, default=None)

    def add_turn(self, row: TurnRow) -> None:
        """Keep a new turn."""
        self.turns[row.id] = row

    def add_run(self, row: RunRow) -> None:
        """Keep a new run."""
        self.runs[row.id] = row

    def add_interaction(self, row: InteractionRow) -> None:
        """Keep a new interaction."""
        self.interactions[row.id] = row


class Recorder:
    """The projector that `DjangoThreadJournal` calls inside each commit."""

    types: Collection[str] = FOLDED_TYPES

    def __init__(self, using: str = "default") -> None:
        self.using = using
        self._heads = Heads()

    def __call__(self, ref: ThreadRef, committed: Committed) -> None:
        """Bring the rows to where these facts leave the thread."""
        if not committed.facts:
            return
        kept = self._heads.take(ref.id, committed.first_seq - 1)
        facts = [fact for fact in committed.facts if fact.type in FOLDED_TYPES]
        if facts:
            kept = self._fold(ref, committed, facts, kept)
        elif kept is not None:
            kept = replace(kept, seq=committed.last_seq)
        if kept is not None:
            transaction.on_commit(partial(self._heads.put, ref.id, kept), using=self.using)

    def _fold(
        self, ref: ThreadRef, committed: Committed, facts: Sequence[Fact], kept: Kept | None
    ) -> Kept:
        connection = connections[self.using]
        with connection.cursor() as cursor:
            book = DatabaseBook(cursor, dialect(self.using), ref.id, kept)
            for fact in facts:
                fold(book, fact)
            if connection.vendor == "postgresql":
                together = Together(cursor)
                book.save(together, committed.at)
                together.send()
            else:
                book.save(cursor, committed.at)
        return book.kept(committed.last_seq)


def make_journal(using: str = "default") -> DjangoThreadJournal:
    """The journal with its rows and its live side: what every door and every worker uses."""
    return DjangoThreadJournal(using=using, projector=Recorder(using), published=published)


def folded(thread_id: str, using: str = "default") -> MemoryBook:
    """What a thread's facts say its rows should be."""
    book = MemoryBook(thread_id)
    for fact in _history(thread_id, using):
        fold(book, fact)
    return book


def _history(thread_id: str, using: str) -> list[Fact]:
    facts: list[Fact] = []
    while True:
        after = facts[-1].seq if facts else 0
        page = read_facts(Q(thread_id=thread_id, seq__gt=after, type__in=FOLDED_TYPES), PAGE, using)
        facts += page
        if len(page) < PAGE:
            return facts


def rebuild(thread_id: str, using: str = "default") -> None:
    """Replace a thread's rows by what its facts say."""
    book = folded(thread_id, using)
    words = dialect(using)
    id_ = words.uuid(thread_id)
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        _replace(cursor, words, id_, TURNS, book.turns)
        _replace(cursor, words, id_, RUNS, book.runs)
        _replace(cursor, words, id_, INTERACTIONS, book.interactions)
        # Nothing equals a fresh object, so every column but the id is written.
        THREADS.update(
            cursor, words, book.thread, [thread_id, *(object() for _ in THREADS.columns[1:])]
        )


def _replace[R](
    cursor: CursorWrapper, words: Dialect, thread: Any, table: Table[R], rows: dict[str, R]
) -> None:
    cursor.execute(f"DELETE FROM {table.name} WHERE thread_id = %s", [thread])  # noqa: S608
    for row in rows.values():
        table.insert(cursor, words, row)
