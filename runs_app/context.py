"""What every page's frame shows of runs: how many questions wait for the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.functional import SimpleLazyObject

from agentadmin.access.authentication import actor_from_request
from runs_app.selectors.interactions import open_count

if TYPE_CHECKING:
    from django.http import HttpRequest


def counts(request: HttpRequest) -> dict[str, Any]:
    """Context processor: counted only where a page draws the frame."""
    return {"counts": SimpleLazyObject(lambda: _counted(request))}


def _counted(request: HttpRequest) -> dict[str, int]:
    actor = actor_from_request(request)
    return {"approvals": open_count(actor)} if actor.is_authenticated else {}
