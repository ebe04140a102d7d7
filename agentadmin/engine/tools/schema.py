"""JSON Schema of a tool's arguments from its signature, and the check of a call against it."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from jsonschema import Draft202012Validator

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state import codec
from agentadmin.engine.tools.context import ToolContext

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    dict: {"type": "object"},
    types.NoneType: {"type": "null"},
    Any: {},
}
MOST_ERRORS = 3


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The name of the parameter that takes the ToolContext, if there is one."""
    hints = _hints(function)
    return next((name for name, hint in hints.items() if hint is ToolContext), None)


def parameters_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of the arguments that a model may pass. Raises InvalidInput for odd types."""
    hints = _hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if hint is ToolContext:
            continue
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise InvalidInput("a tool takes named arguments only", path=name)
        properties[name] = _of(hint, name)
        if parameter.default is parameter.empty:
            required.append(name)
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    # Linters move imports that only annotations use behind TYPE_CHECKING; ours is known anyway.
    names = {"ToolContext": ToolContext, **getattr(function, "__globals__", {})}
    try:
        hints = get_type_hints(function, names, include_extras=True)
    except NameError as error:
        raise InvalidInput(
            f"{function.__qualname__}: {error}; a tool's types must exist at run time"
        ) from error
    hints.pop("return", None)
    return hints


def _of(hint: Any, path: str) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:  # may hold a dict, so it cannot be looked up as a key
        return _annotated(arguments, path)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, types.UnionType}:
        return {"anyOf": [_of(part, path) for part in arguments]}
    if origin in {list, tuple, set}:
        return {"type": "array", "items": _of(arguments[0], path)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], path)}
    raise InvalidInput(f"{hint} has no JSON form", path=path)


def _annotated(arguments: tuple[Any, ...], path: str) -> dict[str, Any]:
    """`Annotated[T, "what it is", {"maximum": 300}]`: text describes, a mapping constrains."""
    schema = _of(arguments[0], path)
    for note in arguments[1:]:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, Mapping):
            schema.update(note)
    return schema


@lru_cache(maxsize=512)
def _validator(schema_text: str) -> Draft202012Validator:
    return Draft202012Validator(codec.loads(schema_text))


def violations(schema_text: str, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, or empty text; `schema_text` is canonical JSON."""
    errors = sorted(_validator(schema_text).iter_errors(arguments), key=lambda e: list(e.path))
    return "; ".join(_sentence(error) for error in errors[:MOST_ERRORS])


def _sentence(error: Any) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return f"{path}: {message}" if path else str(message)
