"""What every page's frame shows of runs: how many questions wait for the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.functional import SimpleLazyObject

from runs_app.selectors.interactions import open_count

if TYPE_CHECKING:
    from django.http import HttpRequest


def counts(request: HttpRequest) -> dict[str, Any]:
    """Context processor: counted only where a page draws the frame."""
    return {"counts": SimpleLazyObject(lambda: _counted(request))}


def _counted(request: HttpRequest) -> dict[str, int]:
    """A page that no door has let in (an error before it) counts nothing."""
    actor = getattr(request, "actor", None)
    return {"approvals": open_count(actor)} if actor and actor.is_authenticated else {}
