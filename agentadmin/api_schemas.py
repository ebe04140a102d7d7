"""What answers of the API have in common, as the OpenAPI document tells it.

Views answer by `agentadmin.replies.reply`, whose codec alters no number; these schemas describe
what it writes, and Schemathesis holds every answer against them. The annotated types at the top
change only the document: what a caller sends is checked by the services.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

Json = dict[str, Any]
"""An object whose keys the document does not name."""

Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Count = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0})]
AnyJson = Annotated[Any, WithJsonSchema({})]
"""Any JSON value, null included."""


def _moment(value: Any) -> datetime:
    """Text as RFC 3339 has it; without a zone it is UTC. Numbers are no moments."""
    if not isinstance(value, str) or not _DATE.match(value):
        raise ValueError("must be a date and time such as 2026-12-01T12:00:00Z")
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a date and time such as 2026-12-01T12:00:00Z") from None


_DATE = re.compile(r"\d{4}-\d\d-\d\d")
Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A date and time that a caller gives."""

Limit = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 200})]
Cursor = Annotated[
    str, WithJsonSchema({"type": "string", "description": "`next_cursor` of the page before"})
]


def one_of(*names: str) -> WithJsonSchema:
    """The schema of a text that is one of these: `Annotated[str, one_of(*RunStatus)]`."""
    return WithJsonSchema({"type": "string", "enum": [str(name) for name in names]})


class Body(Schema):
    """A body names no field that nobody knows, and every field has exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Answer(Schema):
    """An answer, or a part of one; it may gain fields, and never loses one."""

    model_config = ConfigDict(extra="allow")


class Page[Item](Answer):
    """One page of a list; without a `next_cursor` it is the last."""

    items: list[Item]
    next_cursor: str | None


class Problem(Answer):
    """An error as RFC 9457 has it, with a stable `code`."""

    type: str = Field(examples=["urn:agentadmin:problem:stale_version"])
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    code: str = Field(examples=["stale_version"])
    trace_id: str = Field(description="Also in the X-Trace-Id header, the logs and the audit log.")
    path: str | None = Field(default=None, description="The field that is wrong.")


class Receipt(Answer):
    """What a command has set in motion; `duplicate` when it had been given before."""

    turn_id: str | None
    state: str | None = None
    revision: Count | None = None
    position: Count | None = None
    control_id: Uuid | None = None
    interaction_id: str | None = None
    run_id: str | None = None
    duplicate: bool


class ControlStarted(Answer):
    """A command to a thread that a run will carry out; `GET /controls/{id}` follows it."""

    control_id: Uuid
