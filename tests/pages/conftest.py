"""People with a browser, sessions to look at, and a worker in this process."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.audit import later
from agentadmin.engine.identity import new_id
from runs_app.executor import CACHE, execute
from runs_app.keeper import Keeper
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread
from sessions_app.services.sessions import NewSession, create_session

PASSWORD = "correct horse battery staple"
SYSTEM = Actor.system("tests")
PLACES = {
    "operator": ("operator", "default"),
    "viewer": ("viewer", "default"),
    "approver": ("approver", "default"),
    "auditor": ("auditor", "default"),
    "stranger": ("operator", "elsewhere"),
}


class Visitor:
    """A browser with a session: pages, fragments as htmx asks for them, and forms."""

    def __init__(self, user: User) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.client.raise_request_exception = False
        self.client.force_login(user)

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self.client.get(path, query)  # type: ignore[return-value]

    def fragment(self, path: str, **query: Any) -> HttpResponse:
        return self.client.get(path, query, headers={"HX-Request": "true"})  # type: ignore[return-value]

    def post(self, path: str, /, *, htmx: bool = False, **fields: Any) -> HttpResponse:
        headers = {"HX-Request": "true"} if htmx else {}
        data = {**fields, "csrfmiddlewaretoken": self._token()}
        return self.client.post(path, data, headers=headers)  # type: ignore[return-value]

    def _token(self) -> str:
        """What the forms of a page carry."""
        page = html(self.client.get("/sessions"))
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found
        return found[1]


type Visit = Callable[[str], Visitor]
type Talk = Callable[..., AgentThread]


def html(response: Any) -> str:
    return str(response.content.decode())


def text(response: Any) -> str:
    """What a reader sees: no tags, one blank between words."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", html(response), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", body)))


@pytest.fixture
def visit(db: None) -> Iterator[Visit]:
    """Sign somebody in: operator, viewer, approver, auditor, or a stranger of another namespace."""
    known: dict[str, Visitor] = {}

    def _visit(name: str) -> Visitor:
        if name not in known:
            role, namespace = PLACES[name]
            user = create_user(
                actor=SYSTEM, name=name, password=PASSWORD, role=role, namespace=namespace
            )
            known[name] = Visitor(user)
        return known[name]

    later.discard()
    cache.clear()
    yield _visit
    later.discard()


@pytest.fixture
def thread(db: None) -> AgentThread:
    """A fresh thread of the demo agent."""
    return new_thread()


def new_thread(**given: Any) -> AgentThread:
    wanted = {"agent_id": "demo", "session_id": f"s-{new_id()}", "user_id": "alice", **given}
    session = create_session(actor=SYSTEM, new=NewSession(**wanted))
    return AgentThread.objects.select_related("session").get(session=session)


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[Talk]:
    """Say something on a thread and let a worker in this process do what there is to do."""
    for place in ("dispatch", "executor", "keeper"):
        monkeypatch.setattr(f"runs_app.{place}.dispatch", lambda _: None)
    CACHE._held.clear()
    keeper = Keeper("test-worker")
    keeper.sweep = lambda: None  # type: ignore[method-assign]
    keeper.start()

    def _talk(thread: AgentThread, *texts: str) -> AgentThread:
        for said in texts:
            submit_turn(actor=SYSTEM, thread=thread, input=said)
        # One execution drains only so many turns, then it would be dispatched again.
        for _ in range(20):
            async_to_sync(execute)(str(thread.id), keeper)
            thread.refresh_from_db()
            if thread.runnable_since is None:
                break
        return thread

    yield _talk
    keeper.close()


def address(thread: AgentThread, page: str = "conversation") -> str:
    return f"/threads/{thread.id}/{page}"
