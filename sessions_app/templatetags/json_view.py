"""JSON as nested details: no recursion, and gates on depth, nodes and bytes."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sessions_app.templatetags.figures import nbytes
from sessions_app.templatetags.hidden import mark_hidden

register = template.Library()

MAX_NODES = 2_000
MAX_BYTES = 512_000
MAX_DEPTH = 40  # browsers give up nesting at 512 elements; people much earlier
MAX_STRING = 64 * 1024
SHOWN_OF_LONG = 2_000
OPEN_LEVELS = 2
OPEN_CHILDREN = 40

Step = tuple[str, Any, int]  # (key's HTML, value, depth)


@dataclass(slots=True)
class _Page:
    """What was drawn so far, and how much may still be."""

    raw_url: str
    parts: list[str] = field(default_factory=list)
    nodes: int = 0
    size: int = 0

    @property
    def full(self) -> bool:
        return self.nodes >= MAX_NODES or self.size >= MAX_BYTES

    def draw(self, html: str) -> None:
        self.parts.append(html)
        self.size += len(html)

    def cut(self, why: str) -> str:
        link = f' <a href="{escape(self.raw_url)}">Raw</a>' if self.raw_url else ""
        return f'<span class="cut">{escape(why)}{link}</span>'


def _key(name: object) -> str:
    return f'<span class="key" dir="auto">{mark_hidden(str(name))}</span> '


def _string(text: str, page: _Page) -> str:
    if len(text) <= MAX_STRING:
        return f'<span class="str" dir="auto">{mark_hidden(text)}</span>'
    raw = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(raw).hexdigest()
    note = page.cut(f"… {nbytes(len(raw))} in all, sha256 {digest[:8]}…{digest[-4:]}")
    return f'<span class="str" dir="auto">{mark_hidden(text[:SHOWN_OF_LONG])}</span> {note}'


def _literal(value: object) -> str:
    try:
        shown = json.dumps(value)
    except (TypeError, ValueError):  # over 4,300 digits, or no JSON at all
        shown = f"<{type(value).__name__}>"
    return f'<span class="lit">{escape(shown)}</span>'


def _leaf(key: str, value: object, page: _Page) -> str:
    shown = _string(value, page) if isinstance(value, str) else _literal(value)
    return f'<div class="leaf">{key}{shown}</div>'


def _size_of(value: dict[str, Any] | list[Any]) -> str:
    n = len(value)
    if isinstance(value, dict):
        return f"{{{n:,} {'field' if n == 1 else 'fields'}}}"
    return f"[{n:,} {'item' if n == 1 else 'items'}]"


def _children(value: dict[str, Any] | list[Any], depth: int) -> Iterator[Step]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return ((_key(name), item, depth) for name, item in pairs)


def _open(key: str, value: dict[str, Any] | list[Any], depth: int) -> str:
    opened = " open" if depth < OPEN_LEVELS and len(value) <= OPEN_CHILDREN else ""
    summary = f'{key}<span class="count">{_size_of(value)}</span>'
    return f"<details{opened}><summary>{summary}</summary>"


def _branch(step: Step, page: _Page, stack: list[Iterator[Step]]) -> None:
    """Draw a container's head and go down into it, or say why not."""
    key, value, depth = step
    if depth >= MAX_DEPTH:
        page.draw(f'<div class="leaf">{key}{page.cut(f"{_size_of(value)} deeper")}</div>')
        return
    page.draw(_open(key, value, depth))
    stack.append(_children(value, depth + 1))


def _walk(value: Any, page: _Page) -> None:
    """Draw depth first with a stack of iterators: nesting costs memory, never frames."""
    stack: list[Iterator[Step]] = [iter([("", value, 0)])]
    while stack:
        step = next(stack[-1], None)
        if step is None or page.full:
            if step is not None:
                page.draw(f'<div class="leaf">{page.cut("more, not drawn")}</div>')
            stack.pop()
            page.draw("</details>" if stack else "")
            continue
        page.nodes += 1
        if isinstance(step[1], dict | list) and step[1]:
            _branch(step, page, stack)
        else:
            page.draw(_leaf(step[0], step[1], page))


def render_json(value: Any, raw_url: str = "") -> SafeString:
    """Draw a decoded JSON value of any shape; what is left out is named, with a raw link."""
    page = _Page(raw_url)
    _walk(value, page)
    return mark_safe("".join(page.parts))  # noqa: S308 — every text went through an escape


@register.inclusion_tag("_json.html")
def json_view(value: Any, raw_url: str = "", label: str = "JSON") -> dict[str, Any]:
    """Show a JSON value as a tree."""
    return {"tree": render_json(value, raw_url), "raw_url": raw_url, "label": label}
