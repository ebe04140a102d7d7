"""The formats of a state document, and how to tell which one a document has."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from agentadmin.engine.errors import InvalidInput

_PYTHON_FIELDS = frozenset({"reply_context", "middle_context"})
_PYTHON_MESSAGE_FIELDS = frozenset({"created_at", "finished_at", "finished_reason"})


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
    """The format that a document most probably has; Java's is the one without marks."""
    if not isinstance(document, dict):
        return Format.JAVA
    if "schema_version" in document:
        return Format.NATIVE
    if _PYTHON_FIELDS & document.keys() or isinstance(document.get("summary"), list):
        return Format.PYTHON
    messages = document.get("context")
    if isinstance(messages, list) and any(map(_is_python_message, messages)):
        return Format.PYTHON
    return Format.JAVA


def _is_python_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    role = message.get("role")
    lower = isinstance(role, str) and role.islower()
    return lower and bool(_PYTHON_MESSAGE_FIELDS & message.keys())
