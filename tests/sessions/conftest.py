"""Sessions without runs: the plain journal, no projections, a thread with a conversation."""

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agentadmin.audit import later
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import NewFact
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import Msg, TextBlock, assistant_message, user_message
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.rows import thread_ref
from sessions_app.models import AgentThread
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.sessions import NewSession, create_session
from tests.sessions.people import OPERATOR


@pytest.fixture(autouse=True)
def plain_journal(settings: Any) -> None:
    settings.THREAD_JOURNAL = "sessions_app.journal.DjangoThreadJournal"
    settings.AGENT_PERMISSIONS = "tests.sessions.people.no_permissions"


@pytest.fixture(autouse=True)
def no_entry_left_waiting() -> Iterator[None]:
    later.discard()
    yield
    later.discard()


def make_thread(**given: str) -> AgentThread:
    """The thread of a new session."""
    wanted = {"agent_id": "demo", "session_id": new_id(), **given}
    session = create_session(actor=OPERATOR, new=NewSession(**wanted))
    return session_threads(session)[0]


def say(thread: AgentThread, *texts: str, facts: tuple[NewFact, ...] = ()) -> None:
    """A committed conversation: user and assistant in turn; further facts go along."""

    ref = thread_ref(thread)

    async def write() -> None:
        writer = await JournalWriter.open(thread_journal(), ref, lease=None)
        for index, text in enumerate(texts):
            message = (
                assistant_message([TextBlock.make(text)], name="demo")
                if index % 2
                else user_message(text)
            )
            writer.state.context_mutable().append(message)
        await writer.flush(facts, reason="said")

    async_to_sync(write)()
    thread.refresh_from_db()


def change_message(thread: AgentThread, index: int, raw: dict[str, Any]) -> None:
    """A message of the context replaced in place, as a repair does it."""
    ref = thread_ref(thread)

    async def write() -> None:
        writer = await JournalWriter.open(thread_journal(), ref, lease=None)
        writer.state.context_mutable()[index] = Msg(raw)
        await writer.flush(reason="changed")

    async_to_sync(write)()
    thread.refresh_from_db()


@pytest.fixture
def thread() -> AgentThread:
    """A thread with two questions and two answers in its context."""
    made = make_thread()
    say(made, "one", "two", "three", "four")
    return made
