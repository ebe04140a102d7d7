"""Rows that no longer decode: pages show the fault and where it is, and all the rows around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import AgentAdminError, DecodeError, StateUnreadable
from agentadmin.engine.messages.checks import check_message
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

UNREADABLE = "agentadmin.unreadable"
"""The key of a payload, or a message, that stands for one that cannot be decoded."""


def strictly(seq: int, text: str | None) -> Any:
    """The payload of a fact; a fault in it stops whoever reads it."""
    if text is None:
        raise StateUnreadable(f"The payload of fact {seq} is missing.")
    try:
        return codec.loads(text)
    except DecodeError as error:
        raise StateUnreadable(f"The payload of fact {seq} is {error.detail}.") from error


def kindly(seq: int, text: str | None) -> dict[str, Any]:
    """The same for pages: a payload that cannot be decoded says so in its place."""
    try:
        payload = strictly(seq, text)
    except AgentAdminError as error:
        return {UNREADABLE: {"field": "payload", "why": error.detail}}
    if isinstance(payload, dict):
        return payload
    return {UNREADABLE: {"field": "payload", "why": "is not an object"}}


def unreadable_message(payload: Mapping[str, Any], error: Exception | None) -> dict[str, Any]:
    """What a page shows in place of a message that cannot be shown."""
    fault = payload.get(UNREADABLE) or _fault(payload.get("message"), error)
    return {"role": "", "content": [], UNREADABLE: fault}


def _fault(message: Any, error: Exception | None) -> dict[str, str]:
    try:
        check_message(message, "message")
    except DecodeError as found:
        return {"field": found.path, "why": found.detail}
    return {"field": "message", "why": str(error) or type(error).__name__}


def column(name: str, text: str) -> Any:
    """The value of a row's column; one that cannot be decoded says so, and what stands there."""
    try:
        return codec.loads(text)
    except AgentAdminError as error:
        return {UNREADABLE: {"field": name, "why": error.detail}, "text": text}


def column_list(text: str) -> list[Any]:
    """The list in a row's column; empty where there is none that can be read."""
    value = column("", text)
    return value if isinstance(value, list) else []
