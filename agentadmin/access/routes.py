"""Every route declares its permission: the decorator that does it, and the crawl that proves it.

`@requires("sessions:read")` stands directly above a page view, a Ninja operation (below the
router's decorator) or a consumer class. What declares nothing is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.urls import URLPattern, URLResolver, get_resolver
from ninja.utils import contribute_operation_callback

from agentadmin.access.door import ActorAuth
from agentadmin.access.operations import is_api, operations_of
from agentadmin.access.permissions import PERMISSIONS

if TYPE_CHECKING:
    from ninja.operation import Operation

# Not permissions of the table: anybody may, or whoever is signed in may.
PUBLIC = "public"
SIGNED_IN = "signed-in"
DECLARED = "required_permission"
# Views of packages that serve files and descriptions, never data.
_PACKAGES = ("django.contrib.staticfiles.views", "django.views.static", "ninja.openapi.views")

Route = TypeVar("Route", bound=Callable[..., Any])


def requires(permission: str) -> Callable[[Route], Route]:
    """Declare what a route needs: a permission of the table, `PUBLIC` or `SIGNED_IN`."""
    if permission not in PERMISSIONS and permission not in {PUBLIC, SIGNED_IN}:
        raise ValueError(f"There is no permission {permission!r} in the table.")

    def mark(route: Route) -> Route:
        setattr(route, DECLARED, permission)
        if not inspect.isclass(route):
            contribute_operation_callback(route, partial(_guard, permission))
        return route

    return mark


@dataclass(frozen=True, slots=True)
class DeclaredRoute:
    """One route of the product and what it declares; None where it declares nothing."""

    path: str
    methods: tuple[str, ...]
    name: str
    permission: str | None


def permission_of(view: Callable[..., Any]) -> str | None:
    """What a view or consumer declares."""
    for candidate in _layers(view):
        declared: str | None = getattr(candidate, DECLARED, None)
        if declared is not None:
            return declared
        if getattr(candidate, "__module__", "").startswith(_PACKAGES):
            return PUBLIC
    return None


def routes(urlconf: str | None = None, sockets: Iterable[Any] = ()) -> Iterator[DeclaredRoute]:
    """Every route of the URLconf and of the websocket patterns."""
    yield from _walk(get_resolver(urlconf).url_patterns, "/")
    for pattern in sockets:
        yield DeclaredRoute(
            f"/{pattern.pattern}", ("SOCKET",), pattern.name or "", permission_of(pattern.callback)
        )


def undeclared_routes(urlconf: str | None = None, sockets: Iterable[Any] = ()) -> list[str]:
    """The routes that declare no permission; a test holds that there are none."""
    return [
        f"{'/'.join(route.methods)} {route.path}"
        for route in routes(urlconf, sockets)
        if route.permission is None
    ]


def _guard(permission: str, operation: Operation) -> None:
    """Give a Ninja operation the authentication that checks its permission first."""
    if permission == PUBLIC:
        operation.auth_param = None
    else:
        operation.auth_param = guard = ActorAuth(None if permission == SIGNED_IN else permission)
        operation.auth_callbacks = [guard]


def _layers(view: Callable[..., Any]) -> Iterator[Any]:
    """The view itself, then what it wraps: a partial's function, a class behind `as_view`."""
    seen: Any = view
    while seen is not None:
        yield seen
        for name in ("view_class", "consumer_class"):
            if hasattr(seen, name):
                yield getattr(seen, name)
        seen = getattr(seen, "func", None) or getattr(seen, "__wrapped__", None)


def _walk(patterns: Iterable[URLPattern | URLResolver], prefix: str) -> Iterator[DeclaredRoute]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        elif is_api(pattern.callback):
            yield from _operations(pattern, path)
        else:
            name = pattern.name or ""
            yield DeclaredRoute(path, ("ANY",), name, permission_of(pattern.callback))


def _operations(pattern: URLPattern, path: str) -> Iterator[DeclaredRoute]:
    """One pattern per operation."""
    for operation in operations_of(pattern.callback):
        name = operation.operation_id or operation.view_func.__name__
        permission = permission_of(operation.view_func)
        yield DeclaredRoute(path, tuple(operation.methods), name, permission)
