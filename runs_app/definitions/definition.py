"""Definition: everything that a stored version of an agent says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from agentadmin.engine.agents.spec import DEFAULT_MAX_ITERS
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionContext

if TYPE_CHECKING:
    from runs_app.models import AgentDefinition

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A checked definition; `name` is what its messages carry."""

    agent_id: str
    name: str
    model: str
    description: str = ""
    options: ModelOptions
    sys_prompt: str = ""
    tools: tuple[str, ...] = ()
    tool_groups: tuple[str, ...] = ()
    permissions: PermissionContext
    max_iters: int = DEFAULT_MAX_ITERS
    workspace: bool = True
    answer_within: int | None = None
    """Seconds after which a question that nobody answered is denied."""

    def to_dict(self) -> Json:
        """As it is stored, shown and compared."""
        patience = {} if self.answer_within is None else {"answer_within": self.answer_within}
        return {
            "name": self.name,
            "description": self.description,
            "model": self.model,
            "options": self.options.to_dict(),
            "sys_prompt": self.sys_prompt,
            "tools": list(self.tools),
            "tool_groups": list(self.tool_groups),
            "permission_context": self.permissions.to_dict(),
            "max_iters": self.max_iters,
            "workspace": self.workspace,
            **patience,
        }

    @classmethod
    def stored(cls, row: AgentDefinition) -> Self:
        """The definition of a row, which was checked when it was written."""
        raw = codec.loads(row.definition)
        return cls(
            agent_id=row.agent_id,
            name=raw["name"],
            model=raw["model"],
            description=raw.get("description", ""),
            options=ModelOptions.read(raw.get("options") or {}),
            sys_prompt=raw.get("sys_prompt", ""),
            tools=tuple(raw.get("tools", ())),
            tool_groups=tuple(raw.get("tool_groups", ())),
            permissions=PermissionContext.from_dict(raw.get("permission_context") or {}),
            max_iters=raw.get("max_iters", DEFAULT_MAX_ITERS),
            workspace=raw.get("workspace", True),
            answer_within=raw.get("answer_within"),
        )
