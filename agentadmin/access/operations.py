"""Which operation of the API an address and a method mean: Ninja has one view for an address."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ninja.operation import PathView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ninja.operation import Operation


def is_api(view: Callable[..., Any]) -> bool:
    """Whether Ninja answers for this view, with its own authentication and errors."""
    return getattr(view, "__module__", None) == PathView.__module__


def operations_of(view: Callable[..., Any]) -> Sequence[Operation]:
    """Ninja keeps the operations of a path in its view's closure."""
    path_view: PathView = inspect.getclosurevars(view).nonlocals["self"]
    return path_view.operations


def operation_name(view: Callable[..., Any], method: str) -> str | None:
    """The operation of this method; the address alone has the name of its first one."""
    if not is_api(view):
        return None
    for operation in operations_of(view):
        if method in operation.methods:
            return operation.view_func.__name__
    return None
