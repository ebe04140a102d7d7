"""Hidden characters made visible: what changes how a text reads, but not what it does."""

import re
import unicodedata
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# Controls, formats, private use, surrogates, unassigned; line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_LAYOUT = frozenset("\t\n")
# Blank on most screens although Unicode calls them letters or marks.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u034f")
_NAMES = {
    0x00: "NUL",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
}
# Scripts whose spelling needs the joiners: Arabic to Sinhala, Myanmar, Khmer, Mongolian.
_JOINED_SCRIPTS = ((0x0600, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF))
_JOINERS = frozenset("\u200c\u200d")
_PLAIN = re.compile(r"[\x20-\x7e\n\t]*\Z")


def is_hidden(char: str) -> bool:
    """Tell whether a reader would not see this character."""
    if char in _LAYOUT:
        return False
    return unicodedata.category(char) in _HIDDEN or char in _BLANK


def name_of(char: str) -> str:
    """Name a character for its badge's title."""
    code = ord(char)
    unnamed = "LONE SURROGATE" if 0xD800 <= code <= 0xDFFF else "UNASSIGNED OR CONTROL"
    return _NAMES.get(code, unicodedata.name(char, unnamed))


def _badge(char: str) -> str:
    title = name_of(char).capitalize()
    return f'<span class="hid" title="{title}">U+{ord(char):04X}</span>'


def _joins(text: str, at: int) -> bool:
    """Tell whether a joiner is ordinary spelling: inside an emoji or a script that needs it."""
    if text[at] not in _JOINERS or at == 0:
        return False
    before = text[at - 1]
    if before == "\ufe0f" or unicodedata.category(before) in {"So", "Sk"}:
        return True
    return any(low <= ord(before) <= high for low, high in _JOINED_SCRIPTS)


def mark_hidden(text: str) -> SafeString:
    """Escape an exact text for HTML, with a badge in place of every hidden character."""
    if _PLAIN.match(text):
        return mark_safe(escape(text))  # noqa: S308 — escaped
    pieces = [_badge(char) if is_hidden(char) else escape(char) for char in text]
    return mark_safe("".join(pieces))  # noqa: S308 — every piece is escaped or a badge


def mark_prose(text: str) -> SafeString:
    """Escape running text for HTML; the joiners that its script needs stay as they are."""
    if _PLAIN.match(text):
        return mark_safe(escape(text))  # noqa: S308 — escaped
    pieces = [
        _badge(char) if is_hidden(char) and not _joins(text, at) else escape(char)
        for at, char in enumerate(text)
    ]
    return mark_safe("".join(pieces))  # noqa: S308 — every piece is escaped or a badge


def hidden_in(text: str) -> list[tuple[str, str]]:
    """List the distinct hidden characters as (U+XXXX, name), in order of appearance."""
    found = dict.fromkeys(char for char in text if is_hidden(char))
    return [(f"U+{ord(char):04X}", name_of(char).capitalize()) for char in found]


@register.filter
def encodable(value: object) -> str:
    """Replace what UTF-8 cannot carry, so that a page with it still reaches the browser."""
    text = "" if value is None else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


@register.filter
def marked(value: object) -> SafeString:
    """Show a text exactly, with every hidden character named."""
    return mark_hidden("" if value is None else str(value))


@register.filter
def hidden_chars(value: object) -> list[tuple[str, str]]:
    """List the hidden characters of a text, for the findings beside it."""
    return hidden_in("" if value is None else str(value))


@register.filter
def shown(value: object) -> SafeString:
    """Show what a tag already rendered as it is, and any other value exactly."""
    return value if isinstance(value, SafeString) else marked(value)
