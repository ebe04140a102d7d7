"""Ids shortened in the middle, with the whole value one click and one name away."""

import re

from django import template
from django.utils.safestring import SafeString

from sessions_app.templatetags.inline import draw

register = template.Library()

HEAD, TAIL = 8, 4


def halves(value: object, head: int = HEAD, tail: int = TAIL) -> tuple[str, str]:
    """Split an id into the ends that are shown; the second is empty when it fits whole."""
    text = str(value)
    if len(text) <= head + tail + 1:
        return text, ""
    return text[:head], text[-tail:]


_LONG = re.compile(r"\S{25,}")


@register.filter
def short_words(text: object) -> str:
    """The text with its ids shortened, for a button below a title that has them whole."""
    return _LONG.sub(lambda found: middle(found[0]), str(text))


@register.simple_tag
def short_id(
    value: object, *, copy: bool = False, label: str = "id", head: int = HEAD
) -> SafeString:
    """Show an id; `copy` adds the button, `label` says in its name what it is an id of."""
    start, end = halves(value, head)
    shown = {"value": str(value), "start": start, "end": end, "copy": copy, "label": label}
    return draw("_id.html", shown)


@register.filter
def middle(value: object) -> str:
    """Shorten an id to plain text, for a title or an attribute."""
    start, end = halves(value)
    return f"{start}…{end}" if end else start
