"""Agents by id: the demo, those of the user's own package, and those that are defined by data.

An own agent is a function that returns a builder, named in `AGENTADMIN_AGENTS` or by an entry point
of the group `agentadmin.agents`; it is built once per process. Where one has the id of a definition
in the database, the function counts.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction

from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.agents.registry import AgentSource, discover
from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule
from agentadmin.engine.tools.builtin import DEMO_TOOLS, HARMLESS_TOOLS
from runs_app.definitions.building import builder_of
from runs_app.definitions.definition import Definition
from runs_app.models import AgentDefinition
from sessions_app.journal.configured import thread_journal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.agents.builder import AgentBuilder
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.tools.toolkit import Tool

log = logging.getLogger(__name__)

DEMO = "demo"
DEMO_FACTORY = "runs_app.profiles:demo"
RULE_SOURCE = "agent"
FRESH = 2.0
"""Seconds for which lists and pages take the newest version as known; a run always asks."""
MOST_BUILT = 128
MOST_KNOWN = 4096


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
        self._lock = RLock()
        self._sources: dict[str, AgentSource] | None = None
        self._built: dict[str, Profile] = {}
        self._stored: OrderedDict[tuple[str, int], Profile] = OrderedDict()
        self._newest: dict[str, tuple[float, int | None]] = {}

    def get(self, agent_id: str) -> Profile | None:
        """The agent, or None when nobody has defined it; a definition may be seconds old."""
        built = self._built.get(agent_id)
        if built is not None:
            return built
        until, version = self._newest.get(agent_id, (0.0, None))
        if time.monotonic() < until:
            stored = self._stored.get((agent_id, version or 0))
            if version is None or stored is not None:
                return stored
        return self.for_run(agent_id)

    def for_run(self, agent_id: str, version: int | None = None) -> Profile | None:
        """The newest version as it is now, or the one with which a turn has begun.

        What has begun goes on with its version, even where that was retired meanwhile. A function
        has no past: of one there is only what it returns today.
        """
        # The database is asked outside of the lock: whoever holds a row must not wait for it here.
        if version is not None and (begun := _row(agent_id, version=version)) is not None:
            return self._from_row(begun)
        with self._lock:
            if agent_id in self._known():
                return self._from_source(agent_id)
        row = _row(agent_id, is_current=True, is_retired=False, factory="")
        self._note(agent_id, None if row is None else row.version)
        return None if row is None else self._from_row(row)

    def _note(self, agent_id: str, version: int | None) -> None:
        if len(self._newest) >= MOST_KNOWN:
            self._newest.clear()
        self._newest[agent_id] = (time.monotonic() + FRESH, version)

    def _from_row(self, row: AgentDefinition) -> Profile | None:
        with self._lock:
            if row.factory:
                return self._from_source(row.agent_id) if row.agent_id in self._known() else None
            key = (row.agent_id, row.version)
            if (built := self._stored.get(key)) is None:
                builder = builder_of(Definition.stored(row), self.tools())
                built = self._stored[key] = Profile(_built(builder), row.version)
                while len(self._stored) > MOST_BUILT:
                    self._stored.popitem(last=False)
            return built

    def _from_source(self, agent_id: str) -> Profile:
        if agent_id not in self._built:
            source = self._known()[agent_id]
            agent = _built(source.builder())
            self._built[agent_id] = Profile(agent, _version(agent, source.path))
        return self._built[agent_id]

    def ids(self) -> list[str]:
        """Every agent that a new turn can begin with here."""
        stored = AgentDefinition.objects.filter(is_current=True, is_retired=False, factory="")
        return sorted({*self.sources(), *stored.values_list("agent_id", flat=True)})

    def sources(self) -> dict[str, AgentSource]:
        """The agents that are functions, by id."""
        with self._lock:
            return dict(self._known())

    def tools(self) -> dict[str, Tool]:
        """Every tool that a definition may name: the demo's and those of own agents."""
        with self._lock:
            found = {tool.name: tool for tool in DEMO_TOOLS}
            for agent_id in self._known():
                for tool in self._tools_of(agent_id):
                    found.setdefault(tool.name, tool)
            return found

    def _tools_of(self, agent_id: str) -> Iterable[Tool]:
        """One agent that cannot be built takes no other agent's tools away."""
        try:
            return list(self._from_source(agent_id).agent.spec.toolkit)
        except Exception:
            log.exception("agent %s cannot be built", agent_id)
            return ()

    def _known(self) -> dict[str, AgentSource]:
        if self._sources is None:
            self._sources = discover([DEMO_FACTORY, *settings.AGENTS])
        return self._sources

    def changed(self, agent_id: str) -> None:
        """A definition was written here: the next question about it goes to the database."""
        self._newest.pop(agent_id, None)

    def forget(self) -> None:
        """Read the setting again when next asked."""
        with self._lock:
            self._sources = None
            self._built.clear()
            self._stored.clear()
            self._newest.clear()


PROFILES = Profiles()


def _built(builder: AgentBuilder) -> Agent:
    if isinstance(builder, HarnessAgentBuilder):
        builder = builder.thread_journal_store(thread_journal())
    agent: Agent = builder.build()
    return agent


def _row(agent_id: str, **which: object) -> AgentDefinition | None:
    # PostgreSQL refuses NUL, and no agent has one in its id.
    if "\0" in agent_id:
        return None
    return AgentDefinition.objects.filter(agent_id=agent_id, **which).first()


def _version(agent: Agent, path: str) -> int:
    """The number of this definition; another factory for the same id is a new version."""
    current = AgentDefinition.objects.filter(agent_id=agent.agent_id, is_current=True).first()
    if current is not None and current.factory == path:
        return current.version
    newest = AgentDefinition.objects.filter(agent_id=agent.agent_id).order_by("-version").first()
    version = newest.version + 1 if newest else 1
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
