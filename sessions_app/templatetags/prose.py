"""Markdown of people and agents as safe HTML: one function for pages, live view and reports."""

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import nh3
from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from sessions_app.templatetags.hidden import encodable, mark_hidden, mark_prose
from sessions_app.templatetags.rendered import RenderedCache

register = template.Library()

# Longer texts are shown as they are: parsing them would cost seconds and nobody reads them.
MAX_PARSED = 200_000
MAX_SHOWN = 1_000_000

_LINKED = frozenset({"http", "https", "mailto"})
_INLINE = {"a", "b", "br", "code", "em", "s", "span", "strong"}
_BLOCKS = {"blockquote", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul"}
_TAGS = _INLINE | _BLOCKS | {"table", "thead", "tbody", "tr", "th", "td"}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "span": {"class", "title"},
    "code": {"class"},
    "pre": {"class"},
    "ol": {"start"},
}
_CACHE = RenderedCache(entries=2_048, size=16_000_000)


def scheme_of(url: str) -> str:
    """Read a link's scheme as a browser would, past blanks and controls."""
    seen = "".join(c for c in url if c > " " and c != "\x7f")
    try:
        return urlsplit(seen).scheme.lower()
    except ValueError:
        return "unreadable"


def _chip(kind: str, url: str) -> str:
    shown = url if len(url) <= 80 else f"{url[:60]}… ({len(url):,} characters)"
    return f'<span class="chip"><span>{escape(kind)}: </span><b>{mark_hidden(shown)}</b></span>'


class _Renderer(RendererHTML):
    """Renders text with hidden characters named, and links only where they are harmless."""

    def text(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return mark_prose(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f"<code>{mark_hidden(tokens[idx].content)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f'<pre class="out"><code>{mark_hidden(tokens[idx].content)}</code></pre>\n'

    def fence(self, tokens: Sequence[Token], idx: int, *args: Any) -> str:
        return self.code_block(tokens, idx, *args)

    def image(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return _chip("image", str(tokens[idx].attrGet("src") or ""))

    def heading_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f"<{self._heading(tokens[idx])}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f"</{self._heading(tokens[idx])}>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        url = str(tokens[idx].attrGet("href") or "")
        if scheme_of(url) in _LINKED:
            return f'<a href="{escape(url)}" title="{escape(url)}">'
        return f"{_chip('link not followed', url)} <span>"

    def link_close(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        depth = 0
        for token in reversed(tokens[:idx]):
            depth += (token.type == "link_close") - (token.type == "link_open")
            if depth < 0:
                linked = scheme_of(str(token.attrGet("href") or "")) in _LINKED
                return "</a>" if linked else "</span>"
        return ""

    @staticmethod
    def _heading(token: Token) -> str:
        """A message's headings rank below the page's own."""
        return f"h{min(6, int(token.tag[1:]) + 3)}"


def _anything(url: str) -> bool:
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    # Every link reaches the renderer, which shows the dangerous ones as chips.
    parser.validateLink = _anything  # type: ignore[method-assign]
    return parser


_PARSER = _parser()


def _plain(text: str) -> str:
    shown = f'<pre class="out">{mark_hidden(text[:MAX_SHOWN])}</pre>'
    rest = len(text) - MAX_SHOWN
    if rest <= 0:
        return shown
    return f'{shown}<span class="chip"><span>{rest:,} characters not shown</span></span>'


def render_markdown(text: str) -> SafeString:
    """Render markdown as HTML that may be put anywhere on a page."""
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    html = _CACHE.get(key)
    if html is None:
        raw = _plain(text) if len(text) > MAX_PARSED else _PARSER.render(text)
        html = nh3.clean(
            encodable(raw),
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes=set(_LINKED),
            link_rel="noopener noreferrer nofollow",
        )
        _CACHE.put(key, html)
    return mark_safe(html)  # noqa: S308 — cleaned by nh3


@register.filter
def markdown(value: object) -> SafeString:
    """Render a message's text; see `render_markdown`."""
    return render_markdown("" if value is None else str(value))
