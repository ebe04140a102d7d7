"""The sessions list's query: text, status, and words such as `user:alice` in the query box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from sessions_app.selectors.listing import COUNTED
from sessions_app.selectors.sessions import SessionFilters
from sessions_app.states import URGENCY

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {
    "user": "user_id",
    "agent": "agent_id",
    "session": "session_id",
    "status": "status",
}
MAX_QUERY = 500
LABELS = {"waiting": "Needs a person"}


@dataclass(frozen=True, slots=True)
class Chip:
    """One status as a link, with how many sessions are in it."""

    label: str
    url: str
    count: int
    is_more: bool
    """There are more than the number says."""
    is_current: bool
    is_hot: bool


def query_of(given: Mapping[str, str]) -> dict[str, str]:
    """The parts of the address that the list keeps while one pages through it."""
    kept = {name: given.get(name, "").strip()[:MAX_QUERY] for name in ("q", "status")}
    kept |= {name: given[name] for name in ("user_id", "agent_id", "session_id") if name in given}
    return {name: value for name, value in kept.items() if value or name == "user_id"}


def filters_of(query: Mapping[str, str]) -> SessionFilters:
    """What the list looks for: the address's own fields win over the box's words."""
    words, text = _parsed(query.get("q", ""))
    fields = words | {name: value for name, value in query.items() if name != "q"}
    return SessionFilters(q=text, **fields)


def _parsed(text: str) -> tuple[dict[str, str], str]:
    fields: dict[str, str] = {}
    rest: list[str] = []
    for part in text.split():
        name, colon, value = part.partition(":")
        if colon and value and name in _WORDS:
            fields[_WORDS[name]] = value
        else:
            rest.append(part)
    return fields, " ".join(rest)


def chips(query: Mapping[str, str], counts: Mapping[str, int]) -> list[Chip]:
    """All, then each status that occurs or is chosen, the most urgent first."""
    chosen = query.get("status", "")
    shown = [s for s in URGENCY if counts.get(s) or s == chosen]
    return [
        _chip("All", "", sum(counts.values()), query),
        *(_chip(LABELS.get(s, s.capitalize()), s, counts.get(s, 0), query) for s in shown),
    ]


def _chip(label: str, status: str, count: int, query: Mapping[str, str]) -> Chip:
    kept = {name: value for name, value in query.items() if name != "status"}
    link = kept | ({"status": status} if status else {})
    current = query.get("status", "") == status
    is_hot = status == "waiting" and count > 0
    url = f"?{urlencode(link)}"
    return Chip(label, url, min(count, COUNTED), count > COUNTED, current, is_hot)
