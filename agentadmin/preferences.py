"""Theme, density and zone as cookies: the server renders them, so no page flashes."""

from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from agentadmin.access.routes import PUBLIC, requires
from agentadmin.frame import DENSITIES, THEMES

YEAR = 365 * 24 * 3600
MAX_VALUE = 64
CHOICES: dict[str, tuple[str, ...] | None] = {
    "theme": ("system", *THEMES),
    "density": DENSITIES,
    "zone": None,  # any zone that there is
}


def _accepted(name: str, value: str) -> bool:
    allowed = CHOICES[name]
    if allowed is not None:
        return value in allowed
    return is_zone(value)


def is_zone(name: str) -> bool:
    """Whether this is the name of a time zone."""
    if not 0 < len(name) <= MAX_VALUE:
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


@requires(PUBLIC)
@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Remember one or more choices in this browser and go back to the page."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    zone = request.POST.get("zone", "")
    if zone and not is_zone(zone) and request.user.is_authenticated:
        # Refused where the field is, with what was written still in it.
        back = f"{reverse('profile')}?{urlencode({'zone': zone[:MAX_VALUE]})}#id_zone"
    response = HttpResponseRedirect(back)
    for name in CHOICES:
        value = request.POST.get(name, "")
        if _accepted(name, value):
            response.set_cookie(
                name, value, max_age=YEAR, samesite="Lax", secure=request.is_secure()
            )
    return response
