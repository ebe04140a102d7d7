"""Times that always carry their zone, and ages that keep the absolute time beside them."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.safestring import SafeString

from sessions_app.templatetags.inline import draw

register = template.Library()

THIN = "\u00a0"


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Find a zone by its IANA name; an unknown or hostile name means UTC."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def moment(value: object) -> datetime | None:
    """Read a time from a datetime or its wire text; anything else is no time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def stamp(at: datetime) -> str:
    """Write a time for the `datetime` attribute, in UTC to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_FORMATS = {
    "time": "%H:%M:%S",
    "millis": "%H:%M:%S.%f",
    "minute": "%d %b %H:%M",
    "full": "%d %b %Y %H:%M:%S",
}


def _text(at: datetime, form: str) -> str:
    shown = at.strftime(_FORMATS.get(form, _FORMATS["full"]))
    return shown[:-3] if form == "millis" else shown


def age_of(at: datetime, now: datetime) -> str:
    """Say how long ago, without the word: 0 s, 42 s, 18 min, 3 h, 2 d."""
    seconds = max(0.0, (now - at) / timedelta(seconds=1))
    for limit, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= limit:
            return f"{int(seconds // limit)}{THIN}{unit}"
    return f"{int(seconds)}{THIN}s"


def _zone(context: Context) -> ZoneInfo:
    frame: dict[str, Any] = context.get("frame") or {}
    return zone_of(str(frame.get("zone") or "UTC"))


def _shown(context: Context, value: object, form: str) -> dict[str, Any]:
    at = moment(value)
    if at is None:
        return {"at": None}
    local = at.astimezone(_zone(context))
    title = f"{_text(local, 'full')} {local.tzname()}"
    return {
        "at": at,
        "stamp": stamp(at),
        "text": _text(local, form),
        "zone": local.tzname(),
        "title": title,
    }


@register.simple_tag(takes_context=True)
def when(context: Context, value: object, form: str = "full", *, zone: bool = True) -> SafeString:
    """Show a time in the reader's zone; `zone=False` only under a head that names it."""
    shown = _shown(context, value, form)
    return draw("_time.html", shown if zone else shown | {"zone": ""})


@register.simple_tag(takes_context=True)
def age(context: Context, value: object) -> SafeString:
    """Show how long ago, kept current by the page, with the absolute time in its title."""
    shown = _shown(context, value, "full")
    if shown["at"]:
        shown |= {"text": age_of(shown["at"], timezone.now()), "zone": "", "live": True}
    return draw("_time.html", shown)


@register.simple_tag(takes_context=True)
def zone_name(context: Context) -> str:
    """Name the reader's zone, for a column head or a section head."""
    return str(_zone(context).key)


@register.filter
def seconds_between(start: object, end: object) -> float | None:
    """Give the seconds from one time to another; nothing when either is missing."""
    first, last = moment(start), moment(end)
    if first is None or last is None:
        return None
    return (last - first) / timedelta(seconds=1)
