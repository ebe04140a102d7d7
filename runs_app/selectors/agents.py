"""Agents as lists and pages show them: functions and definitions side by side, by version."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q

from agentadmin.access.actor import READ
from agentadmin.access.patterns import pattern_filter
from agentadmin.engine.errors import BadCursor, InvalidInput, NotFound
from agentadmin.engine.state import codec
from agentadmin.paging import Page, checked_limit, searchable
from runs_app.models import AgentDefinition
from runs_app.policies import READ_AGENTS
from runs_app.profiles import PROFILES
from sessions_app.models import AgentSession
from sessions_app.policies import visible_sessions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentadmin.access.actor import Actor

log = logging.getLogger(__name__)

DEFINED = "definition"
PYTHON = "python"
MOST_VERSION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class AgentView:
    """One version of an agent; `error` says why a function's agent cannot be built or shown."""

    row: AgentDefinition
    definition: dict[str, Any]
    sessions: int = 0
    error: str = ""

    @property
    def source(self) -> str:
        """Who defines it: data that can be changed here, or a function that cannot."""
        return PYTHON if self.row.factory else DEFINED


def visible_agents(actor: Actor) -> Q:
    """The agents whose definitions the actor may read, as a filter."""
    found = Q(pk__in=[])
    for grant in actor.grants:
        if READ_AGENTS in grant.permissions:
            found |= pattern_filter("agent_id", grant.agent) or ~Q(pk__in=[])
    return found


def agent_page(actor: Actor, *, cursor: str | None = None, limit: int = 50) -> Page[AgentView]:
    """The agents by id, each in its newest version; retired ones are among them."""
    limit = checked_limit(limit)
    record_functions()
    rows = AgentDefinition.objects.filter(visible_agents(actor), is_current=True)
    if cursor:
        rows = rows.filter(agent_id__gt=_cursor(cursor))
    found = list(rows.order_by("agent_id")[: limit + 1])
    counts = session_counts(actor, [row.agent_id for row in found])
    views = [view_of(row, counts.get(row.agent_id, 0)) for row in found[:limit]]
    return Page(views, found[limit - 1].agent_id if len(found) > limit else None)


def _cursor(text: str) -> str:
    try:
        return searchable(text, "cursor")
    except InvalidInput as error:
        raise BadCursor(error.detail, path="cursor") from None


def record_functions() -> None:
    """See that every function's agent has its row; one that cannot be built hides no other."""
    for agent_id in PROFILES.sources():
        try:
            PROFILES.get(agent_id)
        except Exception:
            log.exception("agent %s cannot be built", agent_id)


def agent_detail(actor: Actor, agent_id: str, version: int | None = None) -> AgentView:
    """An agent in its newest version or another one. Raises NotFound."""
    record_functions()
    if "\0" in agent_id or not (version is None or 0 < version <= MOST_VERSION):
        raise NotFound
    which = Q(is_current=True) if version is None else Q(version=version)
    rows = AgentDefinition.objects.filter(which, visible_agents(actor), agent_id=agent_id)
    if (row := rows.first()) is None:
        raise NotFound
    return view_of(row, session_counts(actor, [agent_id]).get(agent_id, 0))


def version_page(
    actor: Actor, agent_id: str, *, cursor: str | None = None, limit: int = 50
) -> Page[AgentDefinition]:
    """The versions of an agent, newest first. Raises NotFound."""
    limit = checked_limit(limit)
    agent_detail(actor, agent_id)
    rows = AgentDefinition.objects.filter(agent_id=agent_id).order_by("-version")
    if cursor:
        if not cursor.isascii() or not cursor.isdigit() or int(cursor) > MOST_VERSION:
            raise BadCursor("The cursor is not one that this list gave.", path="cursor")
        rows = rows.filter(version__lt=int(cursor))
    found = list(rows[: limit + 1])
    return Page(found[:limit], str(found[limit - 1].version) if len(found) > limit else None)


def view_of(row: AgentDefinition, sessions: int = 0) -> AgentView:
    """A row with what it says; of a function's, what it returns today."""
    if not row.factory:
        return AgentView(row, codec.loads(row.definition), sessions)
    source = PROFILES.sources().get(row.agent_id)
    if source is None or source.path != row.factory:
        return AgentView(row, {}, sessions, f"{row.factory} is not among the agents here")
    try:
        return AgentView(row, _spoken(row.agent_id), sessions)
    except Exception as error:
        log.exception("agent %s cannot be built", row.agent_id)
        return AgentView(row, {}, sessions, f"{type(error).__name__}: {error}"[:500])


def _spoken(agent_id: str) -> dict[str, Any]:
    profile = PROFILES.get(agent_id)
    if profile is None:
        raise NotFound
    spec = profile.agent.spec
    return {
        "name": spec.name,
        "description": "",
        "model": spec.model.name,
        "options": {},
        "sys_prompt": spec.sys_prompt,
        "tools": [tool.name for tool in spec.toolkit],
        "tool_groups": list(spec.initial_groups),
        "permission_context": spec.permission_context.to_dict(),
        "max_iters": spec.max_iters,
        "workspace": spec.workspace is not None,
    }


def session_counts(actor: Actor, agent_ids: Iterable[str]) -> dict[str, int]:
    """How many sessions of each agent the actor sees."""
    if not actor.may(READ):
        return {}
    rows = AgentSession.objects.filter(visible_sessions(actor), agent_id__in=list(agent_ids))
    counted = rows.order_by().values_list("agent_id").annotate(Count("pk"))
    return dict(counted)


def is_known(agent_id: str) -> bool:
    """Whether there ever was a definition of the agent, retired ones included."""
    return "\0" not in agent_id and newest_version(agent_id) > 0


def newest_version(agent_id: str) -> int:
    """The highest number that was given to a version; 0 for an unknown agent."""
    rows = AgentDefinition.objects.filter(agent_id=agent_id)
    return rows.aggregate(newest=Max("version"))["newest"] or 0
