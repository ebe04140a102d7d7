"""Draws small partials inside a line of text, where a file's last newline would be a space."""

from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe


def draw(template: str, context: dict[str, Any]) -> SafeString:
    """Render a partial without the blanks around it."""
    return mark_safe(render_to_string(template, context).strip())  # noqa: S308 — a template's own
