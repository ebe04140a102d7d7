"""What the API takes and gives of agents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from agentadmin.api_schemas import Answer, Body, Count, Json, Time, one_of
from agentadmin.engine.clock import iso
from runs_app.definitions.checks import FIELDS
from runs_app.models import AgentDefinition  # noqa: TC001 - beside the others
from runs_app.selectors.agents import DEFINED, PYTHON, AgentView

Version = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1})]


def _said(**schema: Any) -> Any:
    """Any value for the service to judge; the document says which ones it takes."""
    return Annotated[Any, WithJsonSchema({"anyOf": [schema, {"type": "null"}]})]


_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}


class _Definition(Body):
    """The fields of a definition; what is left out or null is as the default has it."""

    name: _said(type="string", description="What its messages carry.") = None  # type: ignore[valid-type]
    description: _said(type="string", maxLength=2000) = None  # type: ignore[valid-type]
    model: _said(type="string", examples=["offline:demo", "openai:NAME"]) = None  # type: ignore[valid-type]
    options: _said(type="object", description="base_url, api_key_env, timeout, …") = None  # type: ignore[valid-type]
    sys_prompt: _said(type="string") = None  # type: ignore[valid-type]
    tools: _said(**_NAMES) = None  # type: ignore[valid-type]
    tool_groups: _said(**_NAMES) = None  # type: ignore[valid-type]
    permission_context: _said(type="object") = None  # type: ignore[valid-type]
    max_iters: _said(type="integer", minimum=1, maximum=1000) = None  # type: ignore[valid-type]
    workspace: _said(type="boolean") = None  # type: ignore[valid-type]
    answer_within: _said(type="integer", minimum=1) = None  # type: ignore[valid-type]
    reason: str | None = None
    request_id: str | None = None

    def definition(self) -> Json:
        """The fields that were sent, without the envelope."""
        return {name: getattr(self, name) for name in FIELDS if name in self.model_fields_set}


class CreateAgent(_Definition):
    """A new agent."""

    id: str


class UpdateAgent(_Definition):
    """The whole next version of an agent."""

    expected_version: Annotated[int, Field(ge=0)] | None = None


class RetireAgent(Body):
    """Why an agent is not to be used any more."""

    reason: str | None = None
    expected_version: Annotated[int, Field(ge=0)] | None = None
    request_id: str | None = None


class AgentVersion(Answer):
    """Who made a version, when and why."""

    id: str
    version: Count
    is_current: bool
    retired: bool
    source: Annotated[str, one_of(DEFINED, PYTHON)]
    factory: str | None
    created_at: Time
    created_by: str
    reason: str


class AgentItem(AgentVersion):
    """An agent as lists show it; `error` says why a function's agent cannot be built."""

    name: str
    description: str
    model: str | None
    tools: list[str]
    sessions: Count
    error: str | None


class AgentWhole(AgentItem):
    """An agent with everything that its definition says."""

    options: Json
    sys_prompt: str
    tool_groups: list[str]
    permission_context: Json
    max_iters: int | None
    workspace: bool | None
    answer_within: int | None


def agent_version(row: AgentDefinition) -> Json:
    """A version without what it says."""
    return {
        "id": row.agent_id,
        "version": row.version,
        "is_current": row.is_current,
        "retired": row.is_retired,
        "source": PYTHON if row.factory else DEFINED,
        "factory": row.factory or None,
        "created_at": iso(row.created_at),
        "created_by": row.actor_name,
        "reason": row.reason,
    }


def agent_item(view: AgentView) -> Json:
    """An agent as lists show it."""
    said = view.definition
    return {
        **agent_version(view.row),
        "name": said.get("name", view.row.name),
        "description": said.get("description", view.row.description),
        "model": said.get("model"),
        "tools": said.get("tools", []),
        "sessions": view.sessions,
        "error": view.error or None,
    }


def agent_whole(view: AgentView) -> Json:
    """An agent with everything that it says."""
    said = view.definition
    return {
        **agent_item(view),
        "options": said.get("options", {}),
        "sys_prompt": said.get("sys_prompt", ""),
        "tool_groups": said.get("tool_groups", []),
        "permission_context": said.get("permission_context", {}),
        "max_iters": said.get("max_iters"),
        "workspace": said.get("workspace"),
        "answer_within": said.get("answer_within"),
    }
