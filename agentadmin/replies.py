"""JSON answers written by the engine's codec, which alters no number and loses no character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse

from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENT_TYPE = "application/json"


def reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """An answer of the API."""
    return HttpResponse(
        codec.dumps(body, levels=codec.WRAPPED).encode(),
        status=status,
        headers=headers,
        content_type=CONTENT_TYPE,
    )
