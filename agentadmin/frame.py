"""What every page's frame shows: the rail, who is signed in, and how this browser likes to read."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, resolve, reverse

from agentadmin import keys
from agentadmin.access.permissions import PERMISSIONS
from agentadmin.access.routes import permission_of

THEMES = ("light", "dark")
DENSITIES = ("compact", "comfortable")


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the rail; `go` is the key after `g`, `icon` a symbol of the sprite."""

    key: str
    label: str
    url_name: str
    go: str = ""
    phone: bool = False
    symbol: str = ""

    @property
    def icon(self) -> str:
        """The symbol, which has the key's name where no other is given."""
        return self.symbol or self.key

    @property
    def url(self) -> str | None:
        """The page's address; none while the product has no such page."""
        return _address(self.url_name)


# Groups from what needs a person to what is set up once.
RAIL = (
    (
        Place("overview", "Overview", "overview", "o", phone=True),
        Place("sessions", "Sessions", "sessions", "s", phone=True),
        Place("approvals", "Approvals", "approvals", "a", phone=True),
        Place("turns", "Turns", "turns", "t", symbol="tasks"),
        Place("jobs", "Jobs", "jobs", "j"),
    ),
    (
        Place("audit", "Audit", "audit", "u", phone=True),
        Place("reports", "Reports", "reports", "r"),
    ),
    (
        Place("agents", "Agents", "agents", "e", symbol="brain"),
        Place("metrics", "Metrics", "metrics_page"),
        Place("workers", "Workers", "workers"),
        Place("alerts", "Alerts & hooks", "alerts"),
        Place("users", "Users", "users", "n", symbol="admin"),
    ),
    (
        Place("profile", "Profile", "profile", "m", phone=True, symbol="person"),
        Place("tokens", "Tokens", "tokens", "k", symbol="key"),
    ),
    # The last group stands at the rail's foot, with the button that opens the key sheet.
    (Place("help", "Help", "help", "h"),),
)


@lru_cache(maxsize=64)
def _address(url_name: str) -> str | None:
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return None


@lru_cache(maxsize=64)
def _needs(url: str) -> str | None:
    """The permission of a place's page; None where being signed in is enough."""
    declared = permission_of(resolve(url).func)
    return declared if declared in PERMISSIONS else None


def rail(actor: Any = None) -> list[list[Place]]:
    """The rail's groups, with the pages that this version has and the actor may open."""
    groups = [[place for place in group if _is_open(place, actor)] for group in RAIL]
    return [group for group in groups if group]


def more(actor: Any = None) -> list[Place]:
    """The pages for which a phone's bottom bar has no room of their own."""
    return [place for group in rail(actor) for place in group if not place.phone]


def _is_open(place: Place, actor: Any) -> bool:
    url = place.url
    if url is None:
        return False
    needed = _needs(url)
    return actor is None or needed is None or bool(actor.may(needed))


def key_groups(actor: Any = None) -> Iterator[tuple[str, tuple[keys.Key, ...]]]:
    """The key sheet: what works everywhere, where `g` leads, lists, and a session's page."""
    places = (place for group in rail(actor) for place in group if place.go)
    yield "Everywhere", keys.EVERYWHERE
    yield "Go to", tuple(keys.Key(("g", place.go), place.label.lower()) for place in places)
    yield "In a list", keys.LISTS
    yield "In a session", keys.SESSION


def initials(name: str) -> str:
    """Two letters for the round button of the user menu."""
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").split()
    letters = [word[0] for word in words[:2]] if len(words) > 1 else list(name.strip()[:2])
    return "".join(letters).upper() or "?"


def chosen(request: HttpRequest, cookie: str, allowed: tuple[str, ...]) -> str:
    """Read a preference; anything but its known values is the default."""
    value = request.COOKIES.get(cookie, "")
    return value if value in allowed else ""


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor: everything the frame needs, from the request and its cookies alone."""
    user = getattr(request, "user", None)
    signed_in = bool(user and user.is_authenticated)
    actor = getattr(request, "actor", None)
    name = (user.get_full_name() or user.get_username()) if user and signed_in else ""
    return {
        "frame": {
            "theme": chosen(request, "theme", THEMES),
            "density": chosen(request, "density", DENSITIES),
            "zone": request.COOKIES.get("zone", "")[:64] or "UTC",
            # Asked only where a page draws the frame: an error's page asks the database nothing.
            "rail": lambda: rail(actor) if signed_in else [],
            "more": lambda: more(actor) if signed_in else [],
            "keys": lambda: list(key_groups(actor)) if signed_in else [],
            "name": name,
            "initials": initials(name),
            "path": request.get_full_path(),
        }
    }
