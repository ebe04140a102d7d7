"""ETags of states: a committed version never changes, so its number is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.utils.http import parse_etags

if TYPE_CHECKING:
    from django.http import HttpRequest

    from sessions_app.models import AgentThread


def etag(version: int) -> str:
    """The name of a state in the header."""
    return f'"v{version}"'


def is_known(request: HttpRequest, thread: AgentThread, version: int | None) -> bool:
    """Whether the caller holds the wanted version already.

    Never of a thread without a state: what its agent may do can change without a version.
    """
    wanted = thread.version if version is None else version
    if not 0 < wanted <= thread.version:
        return False
    given = parse_etags(request.headers.get("If-None-Match", ""))
    return any(name in {"*", etag(wanted)} for name in (each.removeprefix("W/") for each in given))


def unchanged(thread: AgentThread, version: int | None) -> HttpResponse:
    """Nothing but the name of what the caller holds."""
    wanted = thread.version if version is None else version
    return HttpResponse(status=304, headers={"ETag": etag(wanted)})
