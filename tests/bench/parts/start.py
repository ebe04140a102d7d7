"""T26: from `make run` to ready: the second time, and on a clean clone with warm package caches."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from tests.bench.rows import Row
from tests.services.folder import FOLDER
from tests.services.product import free_port

TIMES = 3
SECONDS = 900.0
OURS = ("DATABASE_URL", "REDIS_URL", "BROKER_URL", "DATABASE_POOL", "DJANGO_SETTINGS_MODULE")


def make_run(tree: Path, data: Path) -> float:
    """Seconds until it says that it is ready; then it is stopped."""
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    environment |= {"AGENTADMIN_DATA": str(data), "PORT": str(free_port())}
    said = data.with_suffix(".out")
    start = time.perf_counter()
    with said.open("w") as output:
        process = subprocess.Popen(
            ["make", "run"],
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    try:
        while "is ready at" not in said.read_text():
            assert process.poll() is None, said.read_text()
            assert time.perf_counter() - start < SECONDS, said.read_text()
            time.sleep(0.01)
        return time.perf_counter() - start
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


async def measure() -> list[Row]:
    """The first start makes the data folder; the others find everything as it was."""
    data = FOLDER / "start"
    first = make_run(settings.BASE_DIR, data)
    again = min(make_run(settings.BASE_DIR, data) for _ in range(TIMES))
    return [
        Row("T26", "first `make run`, packages installed", f"{first:.1f} s"),
        Row("T26", f"second `make run`, best of {TIMES}", f"{again:.1f} s", again, 5, "s"),
    ]


async def measure_cold() -> list[Row]:
    """A clean clone; the package caches of this machine are warm."""
    clone = FOLDER / "clone"
    subprocess.run(["git", "clone", "-q", settings.BASE_DIR, clone], check=True)
    taken = make_run(clone, FOLDER / "cold")
    return [Row("T26", "cold `make run`, warm package cache", f"{taken:.0f} s", taken, 180, "s")]
