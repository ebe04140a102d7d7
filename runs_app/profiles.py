"""Agents by id: the demo, and those of the user's own package; built once per process.

An own agent is a function that returns a builder, named in `AGENTADMIN_AGENTS` or by an entry point
of the group `agentadmin.agents`.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction

from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.agents.registry import AgentSource, discover
from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule
from agentadmin.engine.tools.builtin import DEMO_TOOLS, HARMLESS_TOOLS
from runs_app.models import AgentDefinition
from sessions_app.journal.configured import thread_journal

if TYPE_CHECKING:
    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.agents.builder import AgentBuilder
    from agentadmin.engine.agents.spec import AgentSpec

DEMO = "demo"
DEMO_FACTORY = "runs_app.profiles:demo"
RULE_SOURCE = "agent"


def demo() -> HarnessAgentBuilder:
    """The agent that is there from the start: the offline model with every demo tool."""
    permissions = PermissionContext()
    for name in HARMLESS_TOOLS:
        rule = PermissionRule(name, None, Behavior.ALLOW, RULE_SOURCE)
        permissions = permissions.with_rule(rule)
    return (
        HarnessAgent.builder()
        .name(DEMO)
        .model("offline:demo")
        .sys_prompt("You are the demo agent of AgentAdmin.")
        .tools(*DEMO_TOOLS)
        .permission_context(permissions)
        .workspace(settings.DATA / "workspaces")
    )


@dataclass(frozen=True, slots=True)
class Profile:
    """A built agent and the version of its definition."""

    agent: Agent
    version: int

    @property
    def stamp(self) -> dict[str, str | int]:
        """What `run/start` says of the agent."""
        return {"id": self.agent.agent_id, "version": self.version}


class Profiles:
    """Builds each agent when it is first asked for; safe to ask from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sources: dict[str, AgentSource] | None = None
        self._built: dict[str, Profile] = {}

    def get(self, agent_id: str) -> Profile | None:
        """The agent, or None when nobody has defined it."""
        built = self._built.get(agent_id)
        if built is not None:
            return built
        with self._lock:
            source = self._known().get(agent_id)
            if source is None:
                return None
            if agent_id not in self._built:
                self._built[agent_id] = _profile(source)
            return self._built[agent_id]

    def ids(self) -> list[str]:
        """Every agent that is defined here."""
        with self._lock:
            return sorted(self._known())

    def _known(self) -> dict[str, AgentSource]:
        if self._sources is None:
            self._sources = discover([DEMO_FACTORY, *settings.AGENTS])
        return self._sources

    def forget(self) -> None:
        """Read the setting again when next asked."""
        with self._lock:
            self._sources = None
            self._built.clear()


PROFILES = Profiles()


def _profile(source: AgentSource) -> Profile:
    builder: AgentBuilder = source.builder()
    if isinstance(builder, HarnessAgentBuilder):
        builder = builder.thread_journal_store(thread_journal())
    agent: Agent = builder.build()
    return Profile(agent, _version(agent, source.path))


def _version(agent: Agent, path: str) -> int:
    """The number of this definition; another factory for the same id is a new version."""
    current = AgentDefinition.objects.filter(agent_id=agent.agent_id, is_current=True).first()
    if current is not None and current.factory == path:
        return current.version
    version = current.version + 1 if current else 1
    try:
        with transaction.atomic():
            AgentDefinition.objects.filter(agent_id=agent.agent_id).update(is_current=False)
            AgentDefinition.objects.create(
                agent_id=agent.agent_id, version=version, name=agent.name, factory=path
            )
    except IntegrityError:
        # Another process was first; its row is the definition.
        return AgentDefinition.objects.get(agent_id=agent.agent_id, is_current=True).version
    return version


def permissions_of(agent_id: str) -> PermissionContext:
    """What a new thread of this agent may do; of an unknown agent everything asks."""
    profile = PROFILES.get(agent_id)
    return PermissionContext() if profile is None else profile.agent.spec.permission_context


def window_of(agent_id: str) -> int | None:
    """How many tokens the agent's model takes in one request; None when nobody knows."""
    profile = PROFILES.get(agent_id)
    return None if profile is None else profile.agent.spec.model.context_window or None


def spec_of(agent_id: str) -> AgentSpec | None:
    """What the agent is built of; None when nobody has defined it."""
    profile = PROFILES.get(agent_id)
    return None if profile is None else profile.agent.spec
