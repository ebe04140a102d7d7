"""Theme, density and zone as cookies: the server renders them, so no page flashes."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from agentadmin.access.routes import PUBLIC, requires
from agentadmin.frame import DENSITIES, THEMES

YEAR = 365 * 24 * 3600
MAX_VALUE = 64
CHOICES: dict[str, tuple[str, ...] | None] = {
    "theme": ("system", *THEMES),
    "density": DENSITIES,
    "zone": None,  # any zone name; an unknown one is shown as UTC
}


def _accepted(name: str, value: str) -> bool:
    allowed = CHOICES[name]
    if allowed is not None:
        return value in allowed
    return 0 < len(value) <= MAX_VALUE and value.isprintable() and value.isascii()


@requires(PUBLIC)
@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Remember one or more choices in this browser and go back to the page."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    response = HttpResponseRedirect(back)
    for name in CHOICES:
        value = request.POST.get(name, "")
        if _accepted(name, value):
            response.set_cookie(
                name, value, max_age=YEAR, samesite="Lax", secure=request.is_secure()
            )
    return response
