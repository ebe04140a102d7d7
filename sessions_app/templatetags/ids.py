"""Ids shortened in the middle, with the whole value one click and one name away."""

from typing import Any

from django import template

register = template.Library()

HEAD, TAIL = 8, 4


def halves(value: object, head: int = HEAD, tail: int = TAIL) -> tuple[str, str]:
    """Split an id into the ends that are shown; the second is empty when it fits whole."""
    text = str(value)
    if len(text) <= head + tail + 1:
        return text, ""
    return text[:head], text[-tail:]


@register.inclusion_tag("_id.html")
def short_id(
    value: object, *, copy: bool = False, label: str = "id", head: int = HEAD
) -> dict[str, Any]:
    """Show an id; `copy` adds the button, `label` says in its name what it is an id of."""
    start, end = halves(value, head)
    return {"value": str(value), "start": start, "end": end, "copy": copy, "label": label}


@register.filter
def middle(value: object) -> str:
    """Shorten an id to plain text, for a title or an attribute."""
    start, end = halves(value)
    return f"{start}…{end}" if end else start
