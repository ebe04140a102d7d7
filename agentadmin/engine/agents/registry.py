"""Own agents: functions that return a builder, named by dotted path or by an entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points

from agentadmin.engine.agents.builder import AgentBuilder
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.models.registry import load

GROUP = "agentadmin.agents"

type AgentFactory = Callable[[], AgentBuilder]


@dataclass(frozen=True, slots=True)
class AgentSource:
    """Where one of the user's agents comes from; its function runs when a builder is asked for."""

    path: str
    factory: AgentFactory

    def builder(self) -> AgentBuilder:
        """A builder of its own. Raises InvalidInput when the function gives something else."""
        made = self.factory()
        if not isinstance(made, AgentBuilder):
            raise InvalidInput(
                f"{self.path} returned {type(made).__name__}, not an agent builder", path="agents"
            )
        return made


def find(path: str) -> AgentSource:
    """The agent function at `package.module:function` (a dot also separates)."""
    factory = load(path)
    if not callable(factory):
        raise InvalidInput(f"{path} is no function", path="agents")
    return AgentSource(path, factory)


def discover(paths: Iterable[str] = ()) -> dict[str, AgentSource]:
    """Every agent of the setting and of the entry points, by agent id; none may appear twice."""
    installed = [entry.value for entry in entry_points(group=GROUP)]
    found: dict[str, AgentSource] = {}
    for path in dict.fromkeys([*paths, *installed]):
        source = find(path)
        agent_id = source.builder().identity
        if agent_id in found:
            raise InvalidInput(
                f"{path} and {found[agent_id].path} both define the agent {agent_id}",
                path="agents",
            )
        found[agent_id] = source
    return found
