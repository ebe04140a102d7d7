"""T12, T13: the running product, over HTTP and a real websocket, one person and an idle worker."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any

import httpx
import orjson
from websockets.sync.client import ClientConnection, connect

from agentadmin.engine.identity import new_id
from tests.bench.rows import Row
from tests.bench.timing import percentile
from tests.services.folder import FOLDER
from tests.services.upping import Up

PASSWORD = "correct horse battery staple"
JSON = "application/json"
SUBMITS, INTERRUPTS = 40, 25
SECONDS = 20.0
PACES = ("/slow 2000 10", '/tool sleep {"seconds": 60}')


class Person:
    """Signed in as a browser would be."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS)
        self.http.get("/sign-in")
        token = {"csrfmiddlewaretoken": self.http.cookies["csrftoken"]}
        form = {"username": "admin", "password": PASSWORD, **token}
        assert self.http.post("/sign-in", data=form).status_code == 302

    def post(self, path: str, **body: Any) -> Any:
        """One call of the API."""
        return self.send(path, orjson.dumps(body))

    def send(self, path: str, body: bytes) -> Any:
        """One call whose body is JSON already."""
        headers = {"X-CSRFToken": self.http.cookies["csrftoken"], "Content-Type": JSON}
        answer = self.http.post(f"/api/v1{path}", content=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        """One read of the API."""
        return self.http.get(f"/api/v1{path}").json()

    def thread(self) -> str:
        """A fresh thread of the demo agent."""
        made = self.post("/sessions", agent_id="demo", session_id=f"bench-{new_id()}")
        thread: str = made["threads"][0]["id"]
        return thread

    def submit(self, thread: str, text: str) -> None:
        """A turn."""
        self.post(f"/threads/{thread}/turns", request_id=new_id(), input=text)

    def watch(self, thread: str) -> "Watch":
        """A socket that has said it is ready."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        url = f"ws://127.0.0.1:{self.port}/ws/threads/{thread}"
        return Watch(connect(url, additional_headers={"Cookie": cookie}))


class Watch:
    """What a socket says, with the time at which it said it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.until(lambda frame: frame["type"] == "ready")

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> float:
        """Read on until a frame is the wanted one; when it came."""
        deadline = time.perf_counter() + SECONDS
        while True:
            frame = orjson.loads(self._socket.recv(timeout=deadline - time.perf_counter()))
            if wanted(frame):
                return time.perf_counter()

    def event(self, *types: str) -> float:
        """The next event of one of these types."""
        return self.until(lambda f: f["type"] == "event" and f["event"]["type"] in types)

    def close(self) -> None:
        """End it."""
        self._socket.close()


@contextmanager
def product() -> Iterator[Person]:
    """`manage.py up` with everything as delivered, on a data folder of its own."""
    up = Up(FOLDER / "live", AGENTADMIN_ADMIN_PASSWORD=PASSWORD)
    try:
        up.ready()
        yield Person(up.port)
    finally:
        up.close()


def first_event(person: Person) -> tuple[float, float]:
    """Milliseconds from before the submit to its `turn/start`, and to the worker's first event."""
    thread = person.thread()
    with closing(person.watch(thread)) as watch:
        start = time.perf_counter()
        person.submit(thread, "/echo hello")
        accepted, running = watch.event("turn/start"), watch.event("run/start")
        watch.event("run/end")
    return (accepted - start) * 1000, (running - start) * 1000


def interrupt(person: Person, text: str) -> tuple[float, float]:
    """Milliseconds from before the interrupt to the run that heard it, and to all being saved."""
    thread = person.thread()
    with closing(person.watch(thread)) as watch:
        person.submit(thread, text)
        watch.event("text_block_delta", "tool/dispatch")
        start = time.perf_counter()
        run = person.get(f"/runs?thread_id={thread}")["items"][0]["id"]
        asked = time.perf_counter()
        control = person.post(f"/runs/{run}/interrupt", reason="bench", request_id=new_id())
        saved = watch.event("run/end")
    assert asked > start
    times = person.get(f"/controls/{control['control_id']}")["times"]
    reached = _at(times["acknowledged"]) - _at(times["requested"])
    return reached * 1000, (saved - asked) * 1000


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _row(row: str, what: str, values: list[float], target: float | None) -> Row:
    p95, median = percentile(values, 95), percentile(values, 50)
    figure = f"p95 {p95:.0f} ms (median {median:.0f}, n {len(values)})"
    return Row(row, what, figure, p95, target, "ms")


async def measure() -> list[Row]:
    """One after the other, each on a fresh thread, after a few that warm up."""
    os.environ.pop("DATABASE_URL", None)
    with product() as person:
        for _ in range(3):
            first_event(person)
        events = [first_event(person) for _ in range(SUBMITS)]
        stops = {pace: [interrupt(person, pace) for _ in range(INTERRUPTS)] for pace in PACES}
    rows = [
        _row("T12", "submit to its own event at a socket", [a for a, _ in events], None),
        _row("T12", "submit to the worker's first event", [b for _, b in events], 150),
    ]
    for pace, taken in stops.items():
        name = pace.split(" {", maxsplit=1)[0]
        rows.append(_row("T13", f"interrupt of {name}, reached", [r for r, _ in taken], None))
        rows.append(_row("T13", f"interrupt of {name}, saved", [s for _, s in taken], 500))
    return rows
