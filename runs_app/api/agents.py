"""Agents over HTTP: list, read by version, create, change, retire."""

from __future__ import annotations

import re
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Header, Router

from agentadmin.access.caller import caller
from agentadmin.access.routes import requires
from agentadmin.api_schemas import Cursor, Limit, Page
from agentadmin.engine.errors import InvalidInput
from agentadmin.replies import reply
from runs_app.agent_schemas import (
    AgentItem,
    AgentVersion,
    AgentWhole,
    CreateAgent,
    RetireAgent,
    UpdateAgent,
    Version,
    agent_item,
    agent_version,
    agent_whole,
)
from runs_app.models import AgentDefinition
from runs_app.policies import MANAGE_AGENTS, READ_AGENTS
from runs_app.selectors.agents import agent_detail, agent_page, version_page, view_of
from runs_app.services.agents import create_agent, retire_agent, update_agent

agents_router = Router()

IfMatch = Annotated[str | None, Header(alias="If-Match")]
_ETAG = re.compile(r'(?:W/)?"?v?(\d{1,9})"?')


@agents_router.get("/agents", operation_id="listAgents", response=Page[AgentItem])
@requires(READ_AGENTS)
def list_agents(
    request: HttpRequest, cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """The agents that the caller may know, by id, each in its newest version."""
    page = agent_page(caller(request), cursor=cursor, limit=limit)
    items = [agent_item(view) for view in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@agents_router.post("/agents", operation_id="createAgent", response={201: AgentWhole})
@requires(MANAGE_AGENTS)
def create(request: HttpRequest, body: CreateAgent) -> HttpResponse:
    """An agent's first version; 409 when there is one, 422 with every field that is wrong."""
    row = create_agent(
        actor=caller(request, body.request_id),
        agent_id=body.id,
        given=body.definition(),
        reason=body.reason,
        request_id=body.request_id,
    )
    return _whole(row, 201)


@agents_router.get(
    "/agents/{path:agent_id}/versions",
    operation_id="listAgentVersions",
    response=Page[AgentVersion],
)
@requires(READ_AGENTS)
def list_versions(
    request: HttpRequest, agent_id: str, cursor: Cursor | None = None, limit: Limit = 50
) -> HttpResponse:
    """Who changed an agent, when and why; the newest first."""
    page = version_page(caller(request), agent_id, cursor=cursor, limit=limit)
    items = [agent_version(row) for row in page.items]
    return reply({"items": items, "next_cursor": page.next_cursor})


@agents_router.post(
    "/agents/{path:agent_id}/retire", operation_id="retireAgent", response=AgentWhole
)
@requires(MANAGE_AGENTS)
def retire(request: HttpRequest, agent_id: str, body: RetireAgent) -> HttpResponse:
    """No new turn begins with it; what is under way goes on, a change brings it back."""
    row = retire_agent(
        actor=caller(request, body.request_id),
        agent_id=agent_id,
        reason=body.reason,
        expected_version=body.expected_version,
        request_id=body.request_id,
    )
    return _whole(row)


@agents_router.get("/agents/{path:agent_id}", operation_id="getAgent", response=AgentWhole)
@requires(READ_AGENTS)
def get_agent(request: HttpRequest, agent_id: str, version: Version | None = None) -> HttpResponse:
    """An agent in its newest version, or in an older one."""
    view = agent_detail(caller(request), agent_id, version)
    return reply(agent_whole(view), headers={"ETag": f'"v{view.row.version}"'})


@agents_router.put("/agents/{path:agent_id}", operation_id="updateAgent", response=AgentWhole)
@requires(MANAGE_AGENTS)
def update(
    request: HttpRequest, agent_id: str, body: UpdateAgent, if_match: IfMatch = None
) -> HttpResponse:
    """The next version, whole; needs the version that was read, in the body or in If-Match."""
    row = update_agent(
        actor=caller(request, body.request_id),
        agent_id=agent_id,
        given=body.definition(),
        reason=body.reason,
        expected_version=_expected(body.expected_version, if_match),
        request_id=body.request_id,
    )
    return _whole(row)


def _expected(stated: int | None, if_match: str | None) -> int | None:
    if stated is not None or if_match is None:
        return stated
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInput('must be the ETag that was read, as "v3"', path="If-Match")
    return int(found[1])


def _whole(row: AgentDefinition, status: int = 200) -> HttpResponse:
    return reply(agent_whole(view_of(row)), status, {"ETag": f'"v{row.version}"'})
