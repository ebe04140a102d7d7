"""`make bench`: measure, print one table per part, say plainly what is over its target.

Targets live here and in no test: the exit code is 0 whatever the figures are.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.bench.ground import BASE, Ground
from tests.bench.rows import Row, table
from tests.services import folder, program


@dataclass(frozen=True, slots=True)
class Part:
    """What is measured together, in one process on one fresh database."""

    name: str
    title: str
    rows: tuple[str, ...]
    call: str
    database: str = ""
    asked: bool = False
    """Only measured when one of its rows is named."""


PARTS = (
    Part("turns", "A turn, on PostgreSQL", ("T1", "T2", "T5"), "turns:measure", "postgres"),
    Part("turns_sqlite", "A turn, on SQLite", ("T4",), "turns:measure_sqlite", "sqlite"),
    Part("storage", "What stays", ("T6",), "storage:measure", "postgres"),
    Part("step", "A step's commit", ("T7",), "step:measure", "postgres"),
    Part("edit", "An edit, on PostgreSQL", ("T8",), "edit:measure", "postgres"),
    Part("edit_sqlite", "An edit, on SQLite", ("T8",), "edit:measure", "sqlite"),
    Part("load", "A cold load, on PostgreSQL", ("T9",), "load:measure", "postgres"),
    Part("load_sqlite", "A cold load, on SQLite", ("T9",), "load:measure", "sqlite"),
    Part("memory", "At rest", ("T27",), "memory:measure"),
    Part(
        "lists", "100,000 sessions, PostgreSQL", ("T19",), "lists:measure", "postgres", asked=True
    ),
    Part(
        "lists_sqlite", "100,000 sessions, SQLite", ("T19",), "lists:measure", "sqlite", asked=True
    ),
    Part("imports", "Imports", ("import",), "imports:measure", asked=True),
    Part("live", "The running product", ("T12", "T13"), "live:measure"),
    Part("start", "Starting", ("T26",), "start:measure"),
    Part("cold", "Starting from a clean clone", ("T26-cold",), "start:measure_cold", asked=True),
    Part("suite", "The test suite", ("T28",), "suite:measure", asked=True),
)


def main() -> None:
    """Every part, or those whose rows are named."""
    given = _arguments()
    if given.realtime:
        # Inherited by every server and process of this run.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    over: list[Row] = []
    begun = time.monotonic()
    ground = Ground()
    try:
        for part in PARTS:
            if given.only.intersection(part.rows) if given.only else not part.asked:
                over += _show(part, _measured(part, ground))
    finally:
        ground.stop()
        program.close_lifeline()
        folder.remove()
    load = os.getloadavg()[0]
    print(f"\n{time.monotonic() - begun:.0f} s, load {load:.1f}; the floors say how quiet it was")
    for row in over:
        print(f"over target: {row.row} {row.what}: {row.figure}, target {row.target:g} {row.unit}")
    print("Only when named with --only: T19, import, T28 (`make test`), T26-cold.")


def _arguments() -> argparse.Namespace:
    known = sorted({row for part in PARTS for row in part.rows})
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default="", metavar="T1,T7", help=", ".join(known))
    parser.add_argument(
        "--realtime", action="store_true", help="keep a busy machine's other work out (root)"
    )
    given = parser.parse_args()
    given.only = frozenset(filter(None, _row_names(given.only)))
    if unknown := given.only.difference(known):
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    return given


def _row_names(given: str) -> list[str]:
    """`t9` is T9 as well; the other names are words."""
    return [f"T{each[1:]}" if each[:1] == "t" else each for each in given.split(",")]


def _measured(part: Part, ground: Ground) -> list[Row]:
    result = folder.FOLDER / f"{part.name}.json"
    command = [sys.executable, "-m", "tests.bench.child", part.call, str(result)]
    environment = {**os.environ, **ground.environment(part.name, part.database)}
    done = subprocess.run(command, cwd=BASE, env=environment, check=False)
    if done.returncode:
        return [Row("/".join(part.rows), part.title, "FAILED: see above")]
    return [Row(**row) for row in json.loads(result.read_text())]


def _show(part: Part, rows: list[Row]) -> list[Row]:
    print(f"\n== {part.title}\n{table(rows)}", flush=True)
    return [row for row in rows if row.verdict == "OVER TARGET"]


if __name__ == "__main__":
    main()
