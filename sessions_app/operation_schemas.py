"""What the OpenAPI document says of each operation's fields, as strict as the operation itself.

A null reads as absent wherever the type has it. `tests/api/test_openapi.py` holds that every field
of every operation stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state.directory_operations import MAX_PATH
from agentadmin.engine.state.json_patch import MAX_STEPS
from agentadmin.engine.state.permissions import PermissionMode
from agentadmin.engine.state.redaction import DEFAULT_REPLACEMENT, MAX_REPLACEMENT
from agentadmin.engine.state.task_operations import MAX_REQUIREMENTS, MAX_TEXT
from agentadmin.engine.state.tasks import TaskState
from agentadmin.engine.state.todos import MAX_CONTENT, MAX_TODOS
from agentadmin.engine.state.tool_operations import MAX_GROUPS, MAX_NAME

if TYPE_CHECKING:
    from agentadmin.engine.state.operations import OperationSpec

Json = dict[str, Any]


def _object(properties: Json, *required: str) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(said: str, most: int | None = None, *, least: int = 1) -> Json:
    bounds = {"minLength": least, "maxLength": most}
    given = {name: bound for name, bound in bounds.items() if bound}
    return {"type": "string", **given, "description": said}


def _maybe(schema: Json) -> Json:
    return {**schema, "type": [schema["type"], "null"]}


def _step(*words: str, **more: Json) -> Json:
    """A step of a patch; what a word does not need is not looked at."""
    pointer = _text("A JSON Pointer (RFC 6901); the empty one is the whole state.", least=0)
    fields: Json = {"op": {"enum": list(words)}, "path": pointer, "from": {}, "value": {}, **more}
    return _object(fields, "op", "path", *more)


_BEHAVIOR: Json = {"type": "string", "enum": ["allow", "deny", "ask"]}
_CONTENT = _maybe(_text("Which calls of the tool it is for; null: every call.", least=0))
_RULE: Json = {
    "behavior": _BEHAVIOR,
    "tool_name": _text("The tool's name."),
    "rule_content": _CONTENT,
}
_PATH = _text("An absolute folder.", MAX_PATH)
_POINTER = _text("A JSON Pointer (RFC 6901).", least=0)
_REVISION: Json = {
    "type": ["integer", "null"],
    "description": "The revision of the tasks that was read; refused where they have moved on.",
}
_TODO = _object(
    {
        "content": _text("What is to be done.", MAX_CONTENT),
        "status": {
            "anyOf": [
                {"type": "string", "enum": [str(state) for state in TaskState]},
                {"type": "string", "pattern": r"^\s*$"},
                {"type": "null"},
            ],
            "description": "Empty or null: pending. At most one is in_progress.",
        },
        "priority": _maybe(_text("high, medium or low; other words are dropped.", least=0)),
    },
    "content",
)
_REQUIREMENT = _object(
    {
        "id": _maybe(_text("Made where it is missing.", MAX_TEXT)),
        "text": _text("What must hold when the task is done.", MAX_TEXT),
    },
    "text",
)

FIELDS: dict[str, tuple[Json, tuple[str, ...]]] = {
    "clear_context": ({}, ()),
    "set_summary": (
        {"summary": _maybe(_text("What the model is told of what was dropped.", least=0))},
        ("summary",),
    ),
    "set_permission_mode": (
        {"mode": {"type": "string", "enum": [str(mode) for mode in PermissionMode]}},
        ("mode",),
    ),
    "add_rule": (
        {
            **_RULE,
            "source": _text("Who set it."),
            "expires_at": {
                "type": ["string", "null"],
                "format": "date-time",
                "description": "A time with a zone that lies ahead; null: it stays.",
            },
        },
        ("behavior", "tool_name", "source"),
    ),
    "remove_rule": (
        {**_RULE, "source": _maybe(_text("Null: a rule of any source."))},
        ("behavior", "tool_name"),
    ),
    "add_working_directory": (
        {"path": _PATH, "source": _maybe(_text("Who set it.", least=0))},
        ("path",),
    ),
    "remove_working_directory": ({"path": _PATH}, ("path",)),
    "compact": (
        {
            "keep_messages": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "So many messages stay; null: at most half of them, by tokens.",
            }
        },
        (),
    ),
    "redact_message": (
        {
            "message_id": _text("Which message."),
            "replacement": _maybe(
                _text(f"Stands in its place; {DEFAULT_REPLACEMENT!r}.", MAX_REPLACEMENT, least=0)
            ),
        },
        ("message_id",),
    ),
    "enter_plan_mode": ({}, ()),
    "exit_plan_mode": ({}, ()),
    "set_todos": (
        {
            "todos": {"type": ["array", "null"], "maxItems": MAX_TODOS, "items": _TODO},
            "revision": _REVISION,
        },
        ("todos",),
    ),
    "begin_task": (
        {
            "task_id": _maybe(_text("That of the present task goes on with it.", MAX_TEXT)),
            "objective": _text("What is to be reached.", MAX_TEXT),
            "source": _maybe(_text("Who set it.", MAX_TEXT)),
            "requirements": {
                "type": ["array", "null"],
                "maxItems": MAX_REQUIREMENTS,
                "items": _REQUIREMENT,
            },
            "revision": _REVISION,
        },
        ("objective",),
    ),
    "decide_requirement": (
        {
            "id": _text("Which requirement."),
            "decision": {"type": "string", "enum": ["confirm", "reject"]},
            "revision": _REVISION,
        },
        ("id", "decision"),
    ),
    "set_subject_version": (
        {
            "subject_version": _maybe(
                _text("What is checked, as it is now; null: unknown.", MAX_TEXT)
            ),
            "revision": _REVISION,
        },
        ("subject_version",),
    ),
    "activate_tool_groups": (
        {
            "groups": {
                "type": ["array", "null"],
                "maxItems": MAX_GROUPS,
                "items": _text("A group of the agent's tools.", MAX_NAME),
            }
        },
        ("groups",),
    ),
    "restore": (
        {
            "version": {
                "type": "integer",
                "minimum": 1,
                "description": "It comes back as a new one.",
            }
        },
        ("version",),
    ),
    "json_patch": (
        {
            "patch": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_STEPS,
                "description": "RFC 6902, applied as a whole.",
                "items": {
                    "oneOf": [
                        _step("add", "replace", "test", value={}),
                        _step("remove"),
                        _step("move", "copy", **{"from": _POINTER}),
                    ]
                },
            }
        },
        ("patch",),
    ),
}


def operation_schema(spec: OperationSpec) -> Json:
    """An operation as the document tells it: its name, its fields, and those that it needs."""
    fields, required = FIELDS[spec.name]
    return {
        "title": spec.name,
        **_object({"op": {"const": spec.name}, **fields}, "op", *required),
        "x-permission": spec.permission,
    }
