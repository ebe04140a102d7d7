"""From a definition to a builder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.engine.tools.toolkit import Tool
    from runs_app.definitions.definition import Definition


def builder_of(definition: Definition, tools: Mapping[str, Tool]) -> HarnessAgentBuilder:
    """A builder of the agent. Raises InvalidInput when a tool of it is gone from here."""
    missing = [name for name in definition.tools if name not in tools]
    if missing:
        raise InvalidInput(
            f"agent {definition.agent_id} needs tools that are not here: {', '.join(missing)}",
            path="tools",
        )
    builder = (
        HarnessAgent.builder()
        .name(definition.name)
        .agent_id(definition.agent_id)
        .model(definition.model, definition.options)
        .sys_prompt(definition.sys_prompt)
        .tools(*(tools[name] for name in definition.tools))
        .active_groups(*definition.tool_groups)
        .permission_context(definition.permissions)
        .max_iters(definition.max_iters)
        .answer_within(definition.answer_within)
    )
    return builder.workspace(settings.DATA / "workspaces") if definition.workspace else builder
