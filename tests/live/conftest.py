"""One thread of a running product, driven over HTTP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agentadmin.engine.identity import new_id
from sessions_app.models import JournalFact
from tests.services.product import Product, until


class Client:
    """A fresh session of the demo agent."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        made = self.post("/sessions", agent_id="demo", session_id=f"s-{new_id()}")
        self.session: str = made["id"]
        self.thread: str = made["threads"][0]["id"]

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.http.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()  # type: ignore[no-any-return]

    def get(self, path: str) -> dict[str, Any]:
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    def submit(self, text: str) -> str:
        path = f"/threads/{self.thread}/turns"
        turn_id: str = self.post(path, request_id=new_id(), input=text)["turn_id"]
        return turn_id

    def turn(self, turn_id: str) -> dict[str, Any]:
        return self.get(f"/turns/{turn_id}")

    def wait(self, turn_id: str, *states: str, seconds: float = 25) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            turn = self.turn(turn_id)
            return turn if turn["state"] in states else None

        return until(look, f"the turn is {' or '.join(states)}", seconds) or {}

    def approve(self, turn_id: str) -> None:
        self.wait(turn_id, "waiting")
        path = f"/interactions?status=pending&thread_id={self.thread}"
        for asked in self.get(path)["items"]:
            self.post(
                f"/interactions/{asked['id']}/respond",
                request_id=new_id(),
                decision="approve",
                call_hash=asked["call_hash"],
            )

    def facts(self, *types: str) -> list[JournalFact]:
        rows = JournalFact.objects.filter(thread_id=self.thread).order_by("seq")
        return [row for row in rows if not types or row.type in types]

    def reply(self) -> str:
        entries = self.get(f"/threads/{self.thread}/state")["state"]["context"]
        content = entries[-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]


@pytest.fixture
def client(product: Product) -> Iterator[Client]:
    with product.client() as http:
        yield Client(http)
