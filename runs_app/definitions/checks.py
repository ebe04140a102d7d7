"""What makes a definition acceptable: every fault is found at once, each with its field's path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.builder import MOST_ITERS, MOST_PATIENCE
from agentadmin.engine.agents.spec import DEFAULT_MAX_ITERS
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.identity import check_id
from agentadmin.engine.models.options import ModelOptions
from agentadmin.engine.models.registry import check_name
from agentadmin.engine.state.permissions import PermissionContext
from runs_app.definitions.definition import Definition

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

FIELDS = (
    "name",
    "description",
    "model",
    "options",
    "sys_prompt",
    "tools",
    "tool_groups",
    "permission_context",
    "max_iters",
    "workspace",
    "answer_within",
)
MOST_DESCRIPTION = 2_000
MOST_PROMPT = 200_000
MOST_NAMES = 200
_CONTEXT = frozenset({"mode", "working_directories", "allow_rules", "deny_rules", "ask_rules"})
_RULE = frozenset({"tool_name", "rule_content", "behavior", "source", "expires_at"})
_TABLES = {"allow_rules": "allow", "deny_rules": "deny", "ask_rules": "ask"}
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class InvalidDefinition(InvalidInput):
    """What is wrong with a definition, field by field; the first one is the error's own."""

    def __init__(self, faults: list[InvalidInput]) -> None:
        super().__init__(faults[0].detail, path=faults[0].path)
        self.faults = faults

    def extra(self) -> dict[str, Any]:
        """All of them, as the problem of a malformed body has them, too."""
        found = [{"path": fault.path, "detail": fault.detail} for fault in self.faults]
        return {**super().extra(), "errors": found}


class _Faults:
    """Collects what is wrong, so that nobody mends a form field by field."""

    def __init__(self) -> None:
        self.found: list[InvalidInput] = []

    def at[T](self, path: str, check: Callable[[Any], T], value: Any, instead: T) -> T:
        try:
            return check(value)
        except InvalidInput as error:
            # A check that names its own place from the top needs no prefix.
            own = error.path == path or error.path.startswith((f"{path}.", f"{path}["))
            self.found.append(error if own else error.under(path))
            return instead


def read(agent_id: str, given: Mapping[str, Any], tools: Collection[str]) -> Definition:
    """The definition that was sent. Raises InvalidDefinition."""
    faults = _Faults()
    for name in sorted(given.keys() - set(FIELDS)):
        faults.found.append(InvalidInput("there is no such field", path=name))
    stated = {name: given.get(name) for name in FIELDS}
    id_ = faults.at("id", _agent_id, agent_id, "")
    made = Definition(
        agent_id=id_,
        name=faults.at("name", _name, stated["name"] or id_ or "agent", ""),
        description=faults.at("description", _text(MOST_DESCRIPTION), stated["description"], ""),
        model=faults.at("model", _model, stated["model"], ""),
        options=_options(faults, stated["options"]),
        sys_prompt=faults.at("sys_prompt", _text(MOST_PROMPT), stated["sys_prompt"], ""),
        tools=faults.at("tools", _known(tools), stated["tools"], ()),
        tool_groups=faults.at("tool_groups", _names, stated["tool_groups"], ()),
        permissions=faults.at(
            "permission_context", _permissions, stated["permission_context"], PermissionContext()
        ),
        max_iters=faults.at("max_iters", _iters, stated["max_iters"], DEFAULT_MAX_ITERS),
        workspace=faults.at("workspace", _flag, stated["workspace"], instead=True),
        answer_within=faults.at("answer_within", _patience, stated["answer_within"], None),
    )
    if faults.found:
        raise InvalidDefinition(faults.found)
    return made


def _agent_id(value: Any) -> str:
    return check_id(_plain(value), "id")


def _name(value: Any) -> str:
    return check_id(_plain(value), "name")


def _model(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 300:
        raise InvalidInput("say which model, as in offline:demo or openai:NAME")
    check_name(_storable(value))
    return value


def _options(faults: _Faults, value: Any) -> ModelOptions:
    given = {} if value is None else value
    if not isinstance(given, dict):
        faults.found.append(InvalidInput("must be an object", path="options"))
        return ModelOptions()
    found = ModelOptions.faults(given)
    faults.found += [error.under("options") for error in found]
    return ModelOptions() if found else ModelOptions.read(given)


def _text(longest: int) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value is None:
            return ""
        text = _plain(value)
        if len(text) > longest:
            raise InvalidInput(f"has more than {longest} characters")
        return text

    return check


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_NAMES:
        raise InvalidInput(f"must be a list of at most {MOST_NAMES} names")
    for index, name in enumerate(value):
        try:
            check_id(_plain(name), f"[{index}]")
        except InvalidInput as error:
            error.path = f"[{index}]"
            raise
        if name in value[:index]:
            raise InvalidInput("is there twice", path=f"[{index}]")
    return tuple(value)


def _known(tools: Collection[str]) -> Callable[[Any], tuple[str, ...]]:
    def check(value: Any) -> tuple[str, ...]:
        names = _names(value)
        for index, name in enumerate(names):
            if name not in tools:
                raise InvalidInput(f"there is no tool {name!r} here", path=f"[{index}]")
        return names

    return check


def _iters(value: Any) -> int:
    if value is None:
        return DEFAULT_MAX_ITERS
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_ITERS:
        raise InvalidInput(f"must be a whole number between 1 and {MOST_ITERS}")
    return value


def _patience(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_PATIENCE:
        raise InvalidInput(f"must be a whole number of seconds between 1 and {MOST_PATIENCE}")
    return value


def _flag(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, bool):
        raise InvalidInput("must be true or false")
    return value


def _permissions(value: Any) -> PermissionContext:
    """Strict where a saved state is read leniently: nobody else has written this one."""
    if value is None:
        return PermissionContext()
    context = PermissionContext.from_dict(value)
    for name in sorted(value.keys() - _CONTEXT):
        raise InvalidInput("there is no such field", path=name)
    for table, behavior in _TABLES.items():
        for tool, rules in (value.get(table) or {}).items():
            for index, rule in enumerate(rules):
                _rule(rule, tool, behavior, f"{table}.{tool}[{index}]")
    return context


def _rule(rule: Any, tool: str, behavior: str, path: str) -> None:
    for name in sorted(rule.keys() - _RULE):
        raise InvalidInput("there is no such field", path=f"{path}.{name}")
    if rule["tool_name"] != tool:
        raise InvalidInput(
            "must be the tool that the rule is filed under", path=f"{path}.tool_name"
        )
    if str(rule["behavior"]).lower() != behavior:
        raise InvalidInput(f"must be {behavior} in this table", path=f"{path}.behavior")


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput("must be text")
    return _storable(value)


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise InvalidInput("holds characters that cannot be stored")
    return text
