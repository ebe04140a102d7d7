"""HarnessAgent: journal mode by default; every run leaves facts, and state is folded from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from agentadmin.engine.agents.agent import Agent
from agentadmin.engine.agents.builder import AgentBuilder
from agentadmin.engine.agents.journal_home import JournalHome
from agentadmin.engine.agents.snapshot import SnapshotHome
from agentadmin.engine.errors import InvalidInput

if TYPE_CHECKING:
    from agentadmin.engine.agents.home import StateHome
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.journal.base import ThreadJournalStore


class HarnessAgent(Agent):
    """An agent whose threads are durable."""

    @staticmethod
    def builder() -> HarnessAgentBuilder:
        return HarnessAgentBuilder()


class HarnessAgentBuilder(AgentBuilder):
    """Builds HarnessAgents."""

    def __init__(self) -> None:
        super().__init__()
        self._journal: ThreadJournalStore | None = None
        self._journal_enabled = True

    def thread_journal_store(self, value: ThreadJournalStore) -> Self:
        """Where the threads' journals are."""
        self._journal = value
        return self

    def journal_enabled(self, value: bool) -> Self:  # noqa: FBT001 - the contract's name
        """False selects snapshot mode, which then needs a state store."""
        self._journal_enabled = value
        return self

    def _home(self, spec: AgentSpec) -> StateHome:
        if self._journal_enabled:
            return self._journal_home(spec)
        if self._journal is not None:
            raise InvalidInput(
                "snapshot mode writes no journal; leave out thread_journal_store or "
                "journal_enabled(False)",
                path="thread_journal_store",
            )
        if self._state_store is None:
            raise InvalidInput("snapshot mode needs a state_store", path="state_store")
        return SnapshotHome(self._state_store, spec, self._policy)

    def _journal_home(self, spec: AgentSpec) -> StateHome:
        if self._state_store is not None:
            raise InvalidInput(
                "a journal's threads do not live in a state store; leave it out or choose "
                "journal_enabled(False)",
                path="state_store",
            )
        if self._journal is None:
            raise InvalidInput("journal mode needs a thread_journal_store", path="journal")
        return JournalHome(self._journal, spec)

    def build(self) -> HarnessAgent:
        """An independent agent; close it when done."""
        return self._build(HarnessAgent)
