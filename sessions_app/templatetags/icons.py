"""The icon tag: one symbol of `_sprite.html`, hidden from assistive technology."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_ICON = '<svg{} aria-hidden="true" viewBox="0 0 16 16"><use href="#{}"/></svg>'


@register.simple_tag
def icon(name: str, css: str = "i") -> SafeString:
    """Draw the symbol `name`; the word beside it carries the meaning."""
    return format_html(_ICON, format_html(' class="{}"', css) if css else "", name)


def glyph(name: str) -> SafeString:
    """Draw a state's symbol without a class, as `.st` and `.dec` size it themselves."""
    return icon(name, "")
