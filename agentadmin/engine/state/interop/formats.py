"""The formats of a state document, and how to tell which one a document has."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.interop.foreign import refuse_foreign

_PYTHON_FIELDS = frozenset({"reply_context", "middle_context"})
_JAVA_FIELDS = frozenset({"shutdown_interrupted", "plan_mode_context"})
_PYTHON_ROLES = frozenset({"user", "assistant", "system"})


class Format(StrEnum):
    """Whose document it is."""

    NATIVE = "native"
    JAVA = "agentscope-java"
    PYTHON = "agentscope-python"


def named(name: str) -> Format:
    """The format of this name."""
    try:
        return Format(name)
    except ValueError:
        known = ", ".join(Format)
        raise InvalidInput(f"must be auto or one of {known}", path="format") from None


def detect(document: Any) -> Format:
    """The format that a document most probably has; Java's is the one without marks.

    Raises DecodeError, with the path, for a document that is no state: another product's, an event
    log, an array of something else, and the like.
    """
    refuse_foreign(document)
    if not isinstance(document, dict):
        return Format.JAVA
    if "schema_version" in document:
        return Format.NATIVE
    if _PYTHON_FIELDS & document.keys() or isinstance(document.get("summary"), list):
        return Format.PYTHON
    if _JAVA_FIELDS & document.keys():
        return Format.JAVA
    tools = document.get("tool_context")
    if isinstance(tools, dict) and "read_file_cache" in tools:
        return Format.PYTHON
    messages = document.get("context")
    if isinstance(messages, list) and any(map(_is_python_message, messages)):
        return Format.PYTHON
    return Format.JAVA


def _is_python_message(message: Any) -> bool:
    role = message.get("role") if isinstance(message, dict) else None
    return isinstance(role, str) and role in _PYTHON_ROLES
