"""Numbers as people read them: counts, tokens, bytes, durations, shares, money."""

from decimal import Decimal
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString

from sessions_app.templatetags.inline import draw

register = template.Library()

Number = int | float | Decimal

THIN = "\u00a0"  # a no-break space between number and unit
GAUGE_WIDTH = 48
COMPACTION_SHARE = 0.8


def _number(value: object) -> Number | None:
    return value if isinstance(value, int | float | Decimal) else None


@register.filter
def count(value: object) -> str:
    """Group the digits of a whole number: 12,430."""
    number = _number(value)
    return "" if number is None else f"{int(number):,}"


@register.filter
def compact(value: object) -> str:
    """Shorten a count: 46.8 k, 1.2 M."""
    number = _number(value)
    if number is None:
        return ""
    for limit, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= limit:
            return f"{number / limit:.1f}{THIN}{unit}"
    return f"{int(number):,}"


@register.filter
def nbytes(value: object) -> str:
    """Say a size in bytes: 412 B, 1.9 kB, 3.1 MB."""
    number = _number(value)
    if number is None:
        return ""
    for limit, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if number >= limit:
            return f"{number / limit:.1f}{THIN}{unit}"
    return f"{int(number)}{THIN}B"


@register.filter
def duration(value: object) -> str:
    """Say seconds as people do: 14 ms, 3.1 s, 1 min 27 s, 2 h 5 min, 3 d 4 h."""
    number = _number(value)
    if number is None:
        return ""
    seconds = max(0.0, float(number))
    if seconds < 1:
        return f"{round(seconds * 1000)}{THIN}ms"
    if seconds < 60:
        return f"{seconds:.1f}{THIN}s"
    for big, small, names in ((86400, 3600, "d h"), (3600, 60, "h min"), (60, 1, "min s")):
        if seconds >= big:
            whole, rest = divmod(int(seconds), big)
            one, two = names.split()
            return f"{whole}{THIN}{one} {rest // small}{THIN}{two}"
    return ""


@register.filter
def cost(value: object) -> str:
    """Say an amount in dollars, with the digits that matter."""
    number = _number(value)
    if number is None:
        return ""
    return f"${number:.4f}" if 0 < number < Decimal("0.01") else f"${number:.2f}"


@register.simple_tag
def gauge(used: int | None, window: int | None, *, mark: float = COMPACTION_SHARE) -> SafeString:
    """Show the used share of a context window, with a tick where compaction starts."""
    return _gauge(used or 0, window, mark)


@lru_cache(maxsize=1024, typed=True)
def _gauge(used: int, window: int | None, mark: float) -> SafeString:
    """Most contexts of a list are as full as when it was last looked at."""
    share = min(1.0, used / window) if window else 0.0
    level = "full" if share >= 0.9 else "high" if share >= 0.7 else ""
    shown = {
        "percent": round(share * 100),
        "fill": f"{max(2.0, share * GAUGE_WIDTH):.1f}",
        "mark": f"{mark * GAUGE_WIDTH:.1f}",
        "level": level,
        "used": used,
        "window": window,
    }
    return draw("_gauge.html", shown)
