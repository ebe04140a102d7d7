"""T1, T2, T4, T5: what a one-reply turn costs, however long the history is."""

import statistics
from functools import partial

from django.db import connection

from tests.bench import floor
from tests.bench.floor import Floor, PostgresFloor
from tests.bench.rows import Row
from tests.bench.threads import Conversation, journal_alone, journal_with_rows
from tests.bench.timing import Samples, interleaved

HISTORIES = (10, 100, 1_000, 5_000)
SHORT, LONG = HISTORIES[0], HISTORIES[-1]
ROUNDS, EACH = 12, 6
WAL_BATCHES, WAL_TURNS = 8, 8
JOURNALS = {"journal": journal_alone, "journal and rows": journal_with_rows}


class Turns:
    """The same turns on threads of every length, the floor between them."""

    def __init__(self, kind: str, base: Floor) -> None:
        self.kind = kind
        self.floor = base
        self.threads: dict[str, Conversation] = {}
        self.samples: dict[str, Samples] = {}

    async def measure(self) -> None:
        """Seed, then time everything interleaved."""
        for n in HISTORIES:
            thread = Conversation(JOURNALS[self.kind](), f"{self.kind}-{n}", n)
            self.threads[str(n)] = await thread.seed()
        if isinstance(self.floor, PostgresFloor):
            self.floor.run("ANALYZE")
        cases = {"floor": floor.case(self.floor.turn)}
        cases |= {name: thread.turn for name, thread in self.threads.items()}
        cases["cold"] = self.threads[str(LONG)].cold_turn
        self.samples = await interleaved(
            cases, rounds=ROUNDS, each=EACH, before_round=self._small_again
        )

    async def _small_again(self, name: str) -> None:
        thread = self.threads.get(str(LONG) if name == "cold" else name)
        if thread is not None:
            await thread.trim()

    async def wal_per_turn(self, history: int) -> float:
        """Bytes of WAL of one turn; the median of batches leaves full page images out."""
        thread, base = self.threads[str(history)], self.floor
        assert isinstance(base, PostgresFloor)
        batches = []
        for _ in range(WAL_BATCHES):
            await thread.trim()
            await thread.turn()
            before = base.wal()
            for _ in range(WAL_TURNS):
                await thread.turn()
            batches.append((base.wal() - before) / WAL_TURNS)
        return statistics.median(batches)

    # --- Rows -----------------------------------------------------------------------------------

    def times(self, row: str, target: float) -> list[Row]:
        """One row for each length, and one for a process that has never seen the thread."""
        base = self.samples["floor"].median
        where = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
        say = partial("{where}, {kind}, {what}".format, where=where, kind=self.kind)
        rows = [
            Row(
                row,
                say(what=f"turn at N = {n}"),
                self.samples[str(n)].figure(),
                self.samples[str(n)].median,
                target,
                "ms",
                base,
            )
            for n in HISTORIES
        ]
        cold = self.samples["cold"]
        what = say(what=f"cold turn at N = {LONG}")
        return [*rows, Row(row, what, cold.figure(), cold.median, None, "ms", base)]

    def flatness(self) -> Row:
        """Long over short, by the medians."""
        ratio = self.samples[str(LONG)].median / self.samples[str(SHORT)].median
        what = f"{self.kind}, N = {LONG} over N = {SHORT}"
        return Row("T2", what, f"{ratio:.2f}", ratio, 1.3)

    async def wal_rows(self) -> list[Row]:
        """WAL at both ends, and how far they lie apart."""
        short, long = await self.wal_per_turn(SHORT), await self.wal_per_turn(LONG)
        apart = abs(long - short) / short * 100
        sizes = {SHORT: short / 1024, LONG: long / 1024}
        return [
            *(
                Row("T5", f"{self.kind}, WAL of a turn at N = {n}", f"{kb:.2f} KB", kb, 10, "KB")
                for n, kb in sizes.items()
            ),
            Row("T5", f"{self.kind}, WAL flat in N", f"{apart:.1f} % apart", apart, 10, "%"),
        ]


async def measure() -> list[Row]:
    """On PostgreSQL with its defaults: T1, T2, T5."""
    rows: list[Row] = []
    base = floor.floor()
    for kind in JOURNALS:
        turns = Turns(kind, base)
        await turns.measure()
        rows += [*turns.times("T1", 4), turns.flatness(), *await turns.wal_rows()]
    return sorted(rows, key=lambda row: row.row)


async def measure_sqlite() -> list[Row]:
    """On SQLite as `make run` has it: T4."""
    rows: list[Row] = []
    base = floor.floor()
    for kind in JOURNALS:
        turns = Turns(kind, base)
        await turns.measure()
        rows += turns.times("T4", 3)
    return rows
