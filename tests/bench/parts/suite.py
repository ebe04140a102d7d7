"""T28: how long the whole test suite takes; only when it is asked for by name."""

import subprocess
import time

from django.conf import settings

from tests.bench.rows import Row


async def measure() -> list[Row]:
    """A suite that fails is timed as well, and said to have failed."""
    start = time.perf_counter()
    done = subprocess.run(["make", "test"], cwd=settings.BASE_DIR, check=False)
    minutes = (time.perf_counter() - start) / 60
    how = "" if done.returncode == 0 else " (FAILED)"
    return [Row("T28", "`make test`", f"{minutes:.1f} min{how}", minutes, 6, "min")]
