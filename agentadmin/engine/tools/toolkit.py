"""`@tool`, and the Toolkit: which tools an agent has and which of them a state may use."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, overload

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import ToolCheck, ToolFacts
from agentadmin.engine.tools.schema import context_parameter, parameters_schema

DEFAULT_TIMEOUT = 300.0

type Matcher = Literal["none", "path", "command"]
type Check = Callable[[Mapping[str, Any], Path | None], ToolCheck | None]


class Effect(StrEnum):
    """What running a tool twice would mean; `external` is never repeated without a person."""

    NONE = "none"
    IDEMPOTENT = "idempotent"
    EXTERNAL = "external"


class Waits(StrEnum):
    """Who gives a tool's result when the tool does not run itself."""

    QUESTION = "question"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its function, what a model is told of it, and what the permission gate needs."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    effect: Effect = Effect.EXTERNAL
    read_only: bool = False
    file_edit: bool = False
    matcher: Matcher = "none"
    path_arguments: tuple[str, ...] = ()
    plan_mode_allowed: bool = False
    check: Check | None = None
    waits: Waits | None = None
    timeout: float = DEFAULT_TIMEOUT
    group: str | None = None
    context_argument: str | None = None
    schema_text: str = field(default="", repr=False)

    @property
    def schema(self) -> dict[str, Any]:
        """What a model is told."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }

    def facts(self, arguments: Mapping[str, Any], workspace: Path | None) -> ToolFacts:
        """What the permission decision may know about this call's tool."""
        return ToolFacts(
            name=self.name,
            read_only=self.read_only,
            file_edit=self.file_edit,
            is_command=self.matcher == "command",
            matcher=self.matcher,
            check=self.check(arguments, workspace) if self.check else None,
            plan_mode_allowed=self.plan_mode_allowed,
            root=str(workspace) if workspace else "",
        )

    def kind(self, workspace: Path | None) -> ToolFacts:
        """What holds for every call; a check of its own stands there undecided."""
        undecided = ToolCheck() if self.check else None
        return replace(replace(self, check=None).facts({}, workspace), check=undecided)

    def paths(self, arguments: Mapping[str, Any], workspace: Path | None) -> list[str]:
        """The paths that a call touches, each as named and with its links followed."""
        root = workspace or Path.cwd()
        found: list[str] = []
        for name in self.path_arguments:
            value = arguments.get(name)
            if isinstance(value, str) and "\0" not in value:
                named = os.path.normpath(root / value)
                found += dict.fromkeys((named, os.path.realpath(named)))
        return found


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    effect: Effect | str = Effect.EXTERNAL,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    effect: Effect | str = Effect.EXTERNAL,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    **options: Any,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool; a tool without effect counts as read-only unless it says else."""

    def make(inner: Callable[..., Any]) -> Tool:
        schema = parameters_schema(inner)
        kind = Effect(effect)
        return Tool(
            name=name or inner.__name__,
            description=description or _summary(inner),
            parameters=schema,
            function=inner,
            effect=kind,
            read_only=kind is Effect.NONE if read_only is None else read_only,
            context_argument=context_parameter(inner),
            schema_text=codec.dumps(schema),
            **options,
        )

    return make if function is None else make(function)


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").split("\n\n", 1)[0].replace("\n", " ")


@dataclass(frozen=True, slots=True)
class ActiveTools:
    """The tools that one call may use."""

    tools: Mapping[str, Tool]
    schemas: tuple[dict[str, Any], ...]
    digest: str

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)


class Toolkit:
    """Every tool of an agent; grouped ones are offered only where a state activates the group."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._active: dict[frozenset[str], ActiveTools] = {}
        for entry in tools:
            self._add(entry if isinstance(entry, Tool) else tool(entry))

    def _add(self, entry: Tool) -> None:
        if entry.name in self._tools:
            raise InvalidInput(f"there are two tools named {entry.name}", path="tools")
        self._tools[entry.name] = entry

    def __iter__(self) -> Any:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool | None:
        """The tool, active or not."""
        return self._tools.get(name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that a state may activate."""
        return tuple(dict.fromkeys(t.group for t in self._tools.values() if t.group is not None))

    def active(self, groups: Iterable[str]) -> ActiveTools:
        """The tools of no group and of these groups: never shared state, so nothing leaks."""
        key = frozenset(groups)
        if key not in self._active:
            chosen = {
                entry.name: entry
                for entry in self._tools.values()
                if entry.group is None or entry.group in key
            }
            schemas = tuple(entry.schema for entry in chosen.values())
            digest = codec.sha256(codec.dumps(list(schemas)))
            self._active[key] = ActiveTools(chosen, schemas, digest)
        return self._active[key]
