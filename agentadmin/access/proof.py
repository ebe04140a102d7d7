"""A password typed into a form of access: tried before the form's own act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access import sign_in
from agentadmin.engine.errors import NotAuthenticated, RateLimited

if TYPE_CHECKING:
    from django.http import HttpRequest


def prove_again(request: HttpRequest) -> NotAuthenticated | RateLimited | None:
    """Why the password that came is refused; None where it is right or none came."""
    if not request.POST.get("password"):
        return None
    try:
        sign_in.step_up(request, password=request.POST["password"])
    except (NotAuthenticated, RateLimited) as error:
        return error
    return None
