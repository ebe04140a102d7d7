"""The few htmx attributes the pages use, each with the page's nonce, so that hx-csp lets it act."""

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


def _attributes(context: Context, pairs: dict[str, str]) -> SafeString:
    # The nonce is made when it is first read as text; until then it is false.
    nonce = str(context.get("csp_nonce", ""))
    shown = format_html_join("", ' hx-{}="{}"', ((k, v) for k, v in pairs.items() if v))
    return format_html('hx-nonce="{}"{}', nonce, shown)


@register.simple_tag(takes_context=True)
def hx_get(
    context: Context, url: str, target: str = "", swap: str = "", trigger: str = ""
) -> SafeString:
    """Fetch a fragment and put it into `target`."""
    pairs = {"get": url, "target": target, "swap": swap, "trigger": trigger}
    return _attributes(context, pairs)


@register.simple_tag(takes_context=True)
def hx_post(context: Context, url: str, target: str = "", swap: str = "") -> SafeString:
    """Send a form and put the answer into `target`."""
    return _attributes(context, {"post": url, "target": target, "swap": swap})


@register.simple_tag(takes_context=True)
def hx_nonce(context: Context) -> SafeString:
    """Give an element with hand-written htmx attributes the page's nonce."""
    return _attributes(context, {})
