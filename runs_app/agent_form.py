"""The form of an agent's definition: plain fields, checked by the definition's own rules.

What the fields cannot say (when a rule expires, who added it) is kept from the version before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from agentadmin.engine.errors import DecodeError, TooDeep
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentadmin.engine.errors import InvalidInput

Json = dict[str, Any]

SOURCE = "definition"
TABLES = {"deny_rules": "deny", "ask_rules": "ask", "allow_rules": "allow"}
OPTIONS = ("base_url", "api_key_env", "temperature", "max_tokens", "context_window", "timeout")
WHOLE = ("max_tokens", "context_window")
SHORT = "Say in at least 10 characters why; it is kept in the audit trail."
_TOP = ("name", "description", "model", "sys_prompt", "tools", "tool_groups")
_LIMITS = ("max_iters", "answer_within")
_NESTED = ("mode", "working_directories", "deny_rules", "ask_rules", "allow_rules")


def _line(**more: Any) -> forms.CharField:
    return forms.CharField(max_length=2_000, required=False, **more)


def _lines(most: int = 200_000) -> forms.CharField:
    return forms.CharField(max_length=most, required=False, strip=False)


class AgentForm(forms.Form):
    """Texts as they were typed; `given` makes a definition of them for the service to check."""

    agent_id = _line(strip=False)
    name = _line(strip=False)
    description = _lines()
    model = _line(initial="offline:demo")
    base_url = _line()
    api_key_env = _line()
    temperature = _line()
    max_tokens = _line()
    context_window = _line()
    timeout = _line()
    headers = _lines()
    body = _lines()
    sys_prompt = _lines(1_000_000)
    tools = forms.MultipleChoiceField(required=False)
    tool_groups = _line()
    max_iters = _line(initial="10")
    answer_within = _line()
    workspace = forms.BooleanField(required=False, initial=True)
    mode = forms.ChoiceField(
        choices=[(mode.value, mode.value) for mode in PermissionMode], initial="default"
    )
    deny_rules = _lines()
    ask_rules = _lines()
    allow_rules = _lines()
    working_directories = _lines()
    expected_version = forms.IntegerField(required=False)
    reason = forms.CharField(
        min_length=10,
        max_length=2_000,
        error_messages={"required": SHORT, "min_length": SHORT},
    )

    def __init__(self, *args: Any, tools: Iterable[str] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["tools"].choices = [(name, name) for name in tools]  # type: ignore[attr-defined]

    def given(self, before: Json | None = None) -> Json:
        """The definition that the fields say."""
        said = self.cleaned_data
        context = (before or {}).get("permission_context") or {}
        return {
            "name": said["name"] or None,
            "description": said["description"],
            "model": said["model"],
            "options": self._options(),
            "sys_prompt": said["sys_prompt"],
            "tools": list(said["tools"]),
            "tool_groups": [p.strip() for p in said["tool_groups"].split(",") if p.strip()],
            "permission_context": {
                "mode": said["mode"],
                "working_directories": _directories(said["working_directories"], context),
                **{name: _rules(said[name], name, context) for name in TABLES},
            },
            "max_iters": _number(said["max_iters"], whole=True),
            "answer_within": _number(said["answer_within"], whole=True),
            "workspace": said["workspace"],
        }

    def _options(self) -> Json:
        said = self.cleaned_data
        options: Json = {name: said[name] or None for name in OPTIONS[:2]}
        for name in OPTIONS[2:]:
            options[name] = _number(said[name], whole=name in WHOLE)
        options["headers"] = _headers(said["headers"])
        options["body"] = _object(said["body"])
        return {name: value for name, value in options.items() if value is not None}

    def refuse(self, faults: Iterable[InvalidInput]) -> None:
        """Put every fault at the field that it is about."""
        for fault in faults:
            field, rest = field_of(fault.path)
            detail = f"{rest}: {fault.detail}" if rest else fault.detail
            self.add_error(field if field in self.fields else None, detail)


def field_of(path: str) -> tuple[str, str]:
    """The field that a path of a definition is about, and what of the path names a part of it."""
    head, _, rest = path.partition(".")
    if head == "id":
        return "agent_id", ""
    if head in ("options", "permission_context"):
        inner, _, rest = rest.partition(".")
        return _cut(inner)[0] or head, rest
    return _cut(head)


def _cut(name: str) -> tuple[str, str]:
    field, bracket, rest = name.partition("[")
    return field, bracket + rest


def filled(definition: Mapping[str, Any]) -> Json:
    """The fields of an agent as it is now."""
    options = definition.get("options") or {}
    context = definition.get("permission_context") or {}
    directories = context.get("working_directories") or {}
    return {
        **{name: definition.get(name) for name in (*_TOP, *_LIMITS)},
        **{name: options.get(name) for name in OPTIONS},
        "headers": "\n".join(f"{k}: {v}" for k, v in (options.get("headers") or {}).items()),
        "body": codec.pretty(options["body"]) if options.get("body") else "",
        "tool_groups": ", ".join(definition.get("tool_groups") or ()),
        "workspace": definition.get("workspace", True),
        "mode": context.get("mode", "default"),
        "working_directories": "\n".join(each["path"] for each in directories.values()),
        **{name: "\n".join(_written(context.get(name) or {})) for name in TABLES},
    }


def _written(table: Json) -> Iterable[str]:
    for tool, rules in table.items():
        for rule in rules:
            pattern = rule.get("rule_content")
            yield f"{tool}: {pattern}" if pattern else tool


def _rules(text: str, table: str, context: Json) -> Json:
    """One rule a line, `tool` or `tool: pattern`; one that was there before stays as it was."""
    known = {
        (tool, rule.get("rule_content") or None): rule
        for tool, rules in (context.get(table) or {}).items()
        for rule in rules
    }
    found: dict[str, list[Json]] = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        tool, _, pattern = (part.strip() for part in line.partition(":"))
        fresh = {
            "tool_name": tool,
            "rule_content": pattern or None,
            "behavior": TABLES[table],
            "source": SOURCE,
        }
        found.setdefault(tool, []).append(known.get((tool, pattern or None), fresh))
    return found


def _directories(text: str, context: Json) -> Json:
    known = {each["path"]: each for each in (context.get("working_directories") or {}).values()}
    paths = filter(None, (line.strip() for line in text.splitlines()))
    return {path: known.get(path, {"path": path, "source": SOURCE}) for path in paths}


def _headers(text: str) -> Any:
    lines = [line for line in text.splitlines() if line.strip()]
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs} or None


def _object(text: str) -> Any:
    """The JSON that was typed; what is none stays text, and the check says so."""
    if not text.strip():
        return None
    try:
        return codec.loads(text)
    except (DecodeError, TooDeep):
        return text


def _number(text: str, *, whole: bool) -> Any:
    """The number that was typed; what is none stays text, and the check says so."""
    if not text.strip():
        return None
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return text
