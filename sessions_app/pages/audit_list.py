"""The audit list's query: words such as `actor:bob` in the query box, chips, and a span of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from agentadmin.audit.export import FORMATS
from agentadmin.audit.selectors import Filters
from agentadmin.engine.clock import now
from agentadmin.engine.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS = ("actor", "action", "target", "outcome", "time", "since", "until")
SPANS = {
    "1h": ("The last hour", timedelta(hours=1)),
    "24h": ("The last 24 hours", timedelta(hours=24)),
    "7d": ("The last 7 days", timedelta(days=7)),
    "30d": ("The last 30 days", timedelta(days=30)),
}
FILES = {"csv": "Table, CSV", "xlsx": "Table, Excel", "jsonl": "Bundle that proves itself"}
MAX_FIELD = 400


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is set, and the address of the list without it."""

    name: str
    value: str
    without: str


def query_of(given: Mapping[str, str]) -> dict[str, str]:
    """The filters that are set: the form's own fields, then the words of the query box."""
    kept = {name: given.get(name, "").strip()[:MAX_FIELD] for name in WORDS}
    rest: list[str] = []
    for word in given.get("q", "")[:MAX_FIELD].split():
        name, colon, value = word.partition(":")
        if colon and value and name in WORDS:
            kept[name] = value
        else:
            rest.append(word)
    found = {name: value for name, value in kept.items() if value}
    return {"q": " ".join(rest), **found} if rest else found


def filters_of(query: Mapping[str, str]) -> Filters:
    """The same for the selectors. Raises `InvalidInput` by the field."""
    plain = {name: value for name, value in query.items() if name not in {"time", "since", "until"}}
    filters = Filters(**plain, since=_moment(query, "since"), until=_moment(query, "until"))
    if span := query.get("time"):
        if span not in SPANS:
            raise InvalidInput(f"must be one of {', '.join(SPANS)}", path="time")
        filters = replace(filters, since=now() - SPANS[span][1])
    return filters


def chips(query: Mapping[str, str]) -> list[Chip]:
    """Every filter that is set, but for the text, which stands in the box."""
    return [
        Chip(name, value, first_page({k: v for k, v in query.items() if k != name}))
        for name, value in query.items()
        if name != "q"
    ]


def files(query: Mapping[str, str]) -> list[tuple[str, str]]:
    """What can be saved of what the list shows: address and label."""
    kept = {name: value for name, value in query.items() if name != "time"}
    if span := SPANS.get(query.get("time", "")):
        kept["since"] = (now() - span[1]).isoformat(timespec="seconds")
    url = "/api/v1/audit/export"
    return [(f"{url}?{urlencode(kept | {'format': one})}", FILES[one]) for one in FORMATS]


def link(query: Mapping[str, str], cursor: str | None) -> str:
    """The address of the entries behind a cursor; none where there are no more."""
    return f"?{urlencode({**query, 'cursor': cursor})}" if cursor else ""


def first_page(query: Mapping[str, str]) -> str:
    """The address of the newest entries that fit."""
    return f"?{urlencode(query)}" if query else "?"


def _moment(query: Mapping[str, str], name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(query[name]) if name in query else None
    except ValueError:
        raise InvalidInput("must be a time such as 2026-12-01T12:00:00Z", path=name) from None
