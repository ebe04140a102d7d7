"""Agents, threads with a history, and what keeps their working context small."""

from typing import TYPE_CHECKING

from agentadmin.engine.agents.harness import HarnessAgent
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import Msg, assistant_message, user_message
from agentadmin.engine.runtime_context import RuntimeContext
from runs_app.recorder import Recorder
from sessions_app.journal.store import DjangoThreadJournal
from tests.bench.texts import text

if TYPE_CHECKING:
    from agentadmin.engine.journal.base import ThreadRef

CONTEXT = 50
NAME = "bench"


def journal_alone() -> DjangoThreadJournal:
    """Facts and snapshots only: a library's direct call."""
    return DjangoThreadJournal()


def journal_with_rows() -> DjangoThreadJournal:
    """As in the product, with its turns, runs and session rows, but without the live stream."""
    return DjangoThreadJournal(projector=Recorder())


def agent_on(journal: DjangoThreadJournal) -> HarnessAgent:
    """An agent with the offline model and no tools."""
    builder = HarnessAgent.builder().name(NAME).model("offline:demo")
    return builder.thread_journal_store(journal).build()


class Conversation:
    """One thread with n messages of history, of which the working context holds the last 50."""

    def __init__(self, journal: DjangoThreadJournal, session: str, history: int) -> None:
        self.journal = journal
        self.history = history
        self.ctx = RuntimeContext(session_id=session)
        self.agent = agent_on(journal)
        self.number = history
        self._ref: ThreadRef | None = None

    async def ref(self) -> "ThreadRef":
        """The thread."""
        if self._ref is None:
            self._ref = await self.journal.ensure(self.agent.thread_key(self.ctx))
        return self._ref

    async def seed(self) -> "Conversation":
        """Write the history, then leave only its end in the working context."""
        writer = await self._writer()
        writer.state.context_mutable().extend(_message(n) for n in range(self.history))
        await writer.flush(reason="seed")
        await self.trim()
        return self

    async def trim(self) -> None:
        """Bring the working context back to its size, as compaction would in the long run."""
        writer = await self._writer()
        keep = min(CONTEXT, self.history)
        if len(writer.state.context) > keep:
            writer.state.set_context(writer.state.context[-keep:])
            await writer.flush(reason="trim")

    async def _writer(self) -> JournalWriter:
        return await JournalWriter.open(self.journal, await self.ref(), lease=None)

    async def turn(self) -> None:
        """A user message, one reply of the same length."""
        self.number += 2
        reply = await self.agent.call(user_message(text(self.number)), self.ctx)
        assert reply.text.startswith("You said: [")

    async def cold_turn(self) -> None:
        """The same in a process that has never seen the thread."""
        warm, self.agent = self.agent, agent_on(self.journal)
        await self.turn()
        self.agent = warm


def _message(number: int) -> Msg:
    if number % 2 == 0:
        return user_message(text(number))
    return assistant_message(text(number), name=NAME)
