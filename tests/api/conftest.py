"""The API on the plain journal: three people with tokens, and a thread to look at."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from sessions_app.models import AgentThread
from tests.sessions.conftest import make_thread, say

PASSWORD = "correct horse battery staple"
SYSTEM = Actor.system("tests")
JSON = "application/json"


class Caller:
    """A program with a token; bodies are values or, as they are, text and bytes."""

    def __init__(self, secret: str) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {secret}"})
        self._client.raise_request_exception = False

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self._client.get(f"/api/v1{path}", query)  # type: ignore[return-value]

    def send(self, method: str, path: str, body: Any = None, **given: Any) -> HttpResponse:
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        content_type = given.pop("content_type", JSON)
        return self._client.generic(method, f"/api/v1{path}", data, content_type, **given)  # type: ignore[return-value]

    def post(self, path: str, body: Any = None, **given: Any) -> HttpResponse:
        return self.send("POST", path, body, **given)

    def patch(self, path: str, body: Any = None, **given: Any) -> HttpResponse:
        return self.send("PATCH", path, body, **given)


As = Callable[..., Caller]


@pytest.fixture(autouse=True)
def plain_journal(settings: Any) -> None:
    settings.THREAD_JOURNAL = "sessions_app.journal.DjangoThreadJournal"
    settings.AGENT_PERMISSIONS = "tests.sessions.people.no_permissions"


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    later.discard()
    cache.clear()
    yield
    later.discard()


@pytest.fixture
def people(db: None) -> dict[str, User]:
    places = {"operator": ("operator", "*"), "viewer": ("viewer", "*")}
    places["stranger"] = ("operator", "elsewhere")
    return {
        name: create_user(
            actor=SYSTEM, name=name, password=PASSWORD, role=role, namespace=namespace
        )
        for name, (role, namespace) in places.items()
    }


@pytest.fixture
def caller(people: dict[str, User]) -> As:
    """Who calls: `caller("viewer")`, with a new token."""

    def _caller(name: str, **given: Any) -> Caller:
        return Caller(create_token(actor=SYSTEM, user=people[name], **given).secret)

    return _caller


@pytest.fixture
def operator(caller: As) -> Caller:
    return caller("operator")


@pytest.fixture
def thread(db: None) -> AgentThread:
    made = make_thread()
    say(made, "one", "two", "three", "four")
    return made


def problem(answer: HttpResponse) -> tuple[int, str, str | None]:
    """Status, code and path of a refusal, which is always problem JSON with a trace id."""
    document = json.loads(answer.content)
    assert answer["Content-Type"] == "application/problem+json"
    assert document["status"] == answer.status_code
    assert document["trace_id"] == answer["X-Trace-Id"]
    assert {"type", "title", "detail"} <= document.keys()
    return answer.status_code, document["code"], document.get("path")
