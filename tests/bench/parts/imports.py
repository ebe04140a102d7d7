"""Import: a file of 500 messages, and one of 25 MB while the web process is asked how it is."""

import statistics
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import orjson
from django.conf import settings

from agentadmin.engine.identity import new_id
from tests.bench.parts.live import PASSWORD, Person
from tests.bench.rows import Row
from tests.bench.texts import text
from tests.services.folder import FOLDER
from tests.services.upping import Up

BIG = 25 * 1024 * 1024
TIMES = 7
FIXTURE = Path(settings.BASE_DIR) / "tests/data/agentscope-python/s13_big_500.json"


class Probe:
    """Asks `/healthz` every few milliseconds; the slowest answer is how long the web stood."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/healthz"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.times: list[float] = []

    def __enter__(self) -> "Probe":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=60) as http:
            while not self._stop.wait(0.005):
                began = time.perf_counter()
                assert http.get(self._url).status_code == 200
                self.times.append((time.perf_counter() - began) * 1000)


def big_state() -> dict[str, Any]:
    """A native state of about 25 MB: messages of 300 characters."""
    sample = orjson.dumps(_message(0))
    count = BIG // (len(sample) + 1)
    return {"session_id": "big", "context": [_message(n) for n in range(count)]}


def _message(n: int) -> dict[str, Any]:
    role = "user" if n % 2 == 0 else "assistant"
    content = [{"type": "text", "id": f"b{n}", "text": text(n)}]
    return {"id": f"m{n}", "name": role, "role": role, "content": content}


async def measure() -> list[Row]:
    """Through the API of the running product, from the request to the answer."""
    data = FOLDER / "imports"
    data.mkdir(mode=0o700)
    (data / "demo-seeded").touch()
    up = Up(data, AGENTADMIN_ADMIN_PASSWORD=PASSWORD)
    try:
        person = Person(up.ready().port)
        return [
            *_rows(person, "500 messages", orjson.loads(FIXTURE.read_bytes()), TIMES, 300),
            *_rows(person, "25 MB", big_state(), 2, 5_000),
        ]
    finally:
        up.close()


def _rows(person: Person, what: str, state: Any, times: int, target: float) -> list[Row]:
    taken = []
    person.http.timeout = httpx.Timeout(120)
    with Probe(person.port) as probe:
        for _ in range(times):
            body = orjson.dumps({"state": state, "session_id": f"import-{new_id()}"})
            began = time.perf_counter()
            person.send("/sessions/import", body)
            taken.append((time.perf_counter() - began) * 1000)
    middle = statistics.median(taken)
    worst = max(probe.times)
    figure = f"{middle:.0f} ms (best {min(taken):.0f})"
    return [
        Row("import", f"import of {what}", figure, middle, target, "ms"),
        Row(
            "import", f"slowest /healthz meanwhile, {what}", f"{worst:.0f} ms of {len(probe.times)}"
        ),
    ]
