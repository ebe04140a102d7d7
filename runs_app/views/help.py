"""The help page: keys, what the words mean, and which role may do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.http import require_safe

from agentadmin.access.permissions import PERMISSIONS, ROLES
from agentadmin.access.routes import SIGNED_IN, requires
from runs_app.pages.glossary import CHAPTERS

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@requires(SIGNED_IN)
@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """Everything that the pages take for granted."""
    matrix = [
        (name, label, [name in role.permissions for role in ROLES.values()])
        for name, label in PERMISSIONS.items()
    ]
    context = {
        "nav": "help",
        "chapters": CHAPTERS,
        "roles": [role.label for role in ROLES.values()],
        "matrix": matrix,
    }
    return render(request, "runs/help.html", context)
