"""ReActAgent: the plain agent; a state store, and none of the harness's policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.agents.agent import Agent
from agentadmin.engine.agents.builder import AgentBuilder
from agentadmin.engine.agents.snapshot import SnapshotHome
from agentadmin.engine.stores.memory import InMemoryAgentStateStore

if TYPE_CHECKING:
    from agentadmin.engine.agents.home import StateHome
    from agentadmin.engine.agents.spec import AgentSpec


class ReActAgent(Agent):
    """Without a state store its history lives and dies with the instance."""

    @staticmethod
    def builder() -> ReActAgentBuilder:
        return ReActAgentBuilder()


class ReActAgentBuilder(AgentBuilder):
    """Builds ReActAgents."""

    def _home(self, spec: AgentSpec) -> StateHome:
        return SnapshotHome(self._state_store or InMemoryAgentStateStore(), spec, self._policy)

    def build(self) -> ReActAgent:
        """An independent agent; close it when done."""
        return self._build(ReActAgent)
