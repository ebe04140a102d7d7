"""What every page's frame shows: the rail, who is signed in, and how this browser likes to read."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

THEMES = ("light", "dark")
DENSITIES = ("compact", "comfortable")


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the rail; `go` is the key after `g`."""

    key: str
    label: str
    url_name: str
    go: str = ""
    phone: bool = False

    @property
    def url(self) -> str | None:
        """The page's address; none while the product has no such page."""
        return _address(self.url_name)


# Groups from what needs a person to what is set up once. The icon has the key's name.
RAIL = (
    (
        Place("overview", "Overview", "overview", "o", phone=True),
        Place("sessions", "Sessions", "sessions", "s", phone=True),
        Place("approvals", "Approvals", "approvals", "a", phone=True),
        Place("tasks", "Tasks", "tasks", "t"),
        Place("jobs", "Jobs", "jobs"),
    ),
    (
        Place("audit", "Audit", "audit", "u", phone=True),
        Place("reports", "Reports", "reports", "r"),
    ),
    (
        Place("metrics", "Metrics", "metrics_page"),
        Place("workers", "Workers", "workers"),
        Place("alerts", "Alerts & hooks", "alerts"),
        Place("admin", "Admin", "admin_home"),
    ),
)


@lru_cache(maxsize=64)
def _address(url_name: str) -> str | None:
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return None


def rail() -> list[list[Place]]:
    """The rail's groups, with the pages that this version has."""
    groups = [[place for place in group if place.url] for group in RAIL]
    return [group for group in groups if group]


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
    name = (user.get_full_name() or user.get_username()) if user and signed_in else ""
    return {
        "frame": {
            "theme": chosen(request, "theme", THEMES),
            "density": chosen(request, "density", DENSITIES),
            "zone": request.COOKIES.get("zone", "")[:64] or "UTC",
            "rail": rail() if signed_in else [],
            "name": name,
            "initials": initials(name),
            "path": request.get_full_path(),
        }
    }
