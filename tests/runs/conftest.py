"""Threads, people and a worker for tests that execute turns in this process."""

import threading
from collections.abc import Callable, Iterator

import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from agentadmin.access.actor import Actor
from agentadmin.engine.identity import new_id
from runs_app.executor import CACHE, execute
from runs_app.keeper import Keeper
from runs_app.models import Turn
from sessions_app.models import AgentThread
from sessions_app.services.sessions import NewSession, create_session

type Work = Callable[[AgentThread], None]
type Start = Callable[[AgentThread], threading.Thread]


@pytest.fixture
def actor() -> Actor:
    """Somebody who may do everything."""
    return Actor.system("ann")


@pytest.fixture
def thread(actor: Actor) -> AgentThread:
    """A fresh thread of the demo agent."""
    return new_thread(actor)


def new_thread(actor: Actor, agent_id: str = "demo") -> AgentThread:
    session = create_session(
        actor=actor, new=NewSession(agent_id=agent_id, session_id=f"s-{new_id()}")
    )
    return AgentThread.objects.select_related("session").get(session=session)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    """A keeper whose thread runs, as in a worker, but that sweeps only when told."""
    keeper = Keeper("test-worker")
    keeper.sweep = lambda: None  # type: ignore[method-assign]
    keeper.start()
    yield keeper
    keeper.close()


@pytest.fixture
def work(keeper: Keeper) -> Work:
    """Execute what a thread has to do, in this thread."""

    def run(thread: AgentThread) -> None:
        async_to_sync(execute)(str(thread.id), keeper)

    return run


@pytest.fixture
def start(keeper: Keeper) -> Iterator[Start]:
    """Execute in a thread of its own, as a worker does; all have ended when the test has."""
    threads: list[threading.Thread] = []

    def begin(thread: AgentThread) -> threading.Thread:
        def run() -> None:
            try:
                async_to_sync(execute)(str(thread.id), keeper)
            finally:
                connections.close_all()

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return threads[-1]

    yield begin
    keeper.shut_down()
    for each in threads:
        each.join(timeout=20)
        assert not each.is_alive()


@pytest.fixture(autouse=True)
def no_messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No worker listens in this process: the messages are kept for whoever asks."""
    sent: list[str] = []
    for place in ("dispatch", "executor", "keeper"):
        monkeypatch.setattr(f"runs_app.{place}.dispatch", sent.append)
    return sent


@pytest.fixture(autouse=True)
def cold_cache() -> None:
    """No projection outlives a test's database."""
    CACHE._held.clear()


def turn_of(turn_id: str | None) -> Turn:
    return Turn.objects.get(id=turn_id)
