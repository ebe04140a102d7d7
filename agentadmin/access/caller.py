"""The actor behind an API request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from django.http import HttpRequest

    from agentadmin.access.actor import Actor


def caller(request: HttpRequest, request_id: str | None = None) -> Actor:
    """The caller that the route's check has proven, with the id that the request was given."""
    actor = cast("Actor", request.auth)  # type: ignore[attr-defined]
    return actor if request_id is None else replace(actor, request_id=request_id)
