"""What is wrong with what a caller sent."""

# The names say what happened, not that it is an error.
# ruff: noqa: N818

from __future__ import annotations

from typing import Any, Self

from agentadmin.engine.errors.base import AgentAdminError


class InvalidInput(AgentAdminError):
    """The caller's data is wrong; `path` names the field."""

    code = "invalid_input"
    default_detail = "The input is not valid."

    def __init__(self, detail: str = "", *, path: str = "") -> None:
        super().__init__(detail)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}" if self.path else self.detail

    def extra(self) -> dict[str, Any]:
        return {"path": self.path} if self.path else {}

    def under(self, prefix: str) -> Self:
        """The same error, its path seen from the enclosing value at `prefix`."""
        if not prefix or not self.path:
            self.path = prefix or self.path
        elif self.path.startswith("["):
            self.path = prefix + self.path
        else:
            self.path = f"{prefix}.{self.path}"
        return self


class DecodeError(InvalidInput):
    """A document is not JSON, or not what its format says."""

    code = "invalid_document"
    default_detail = "The document cannot be read."


class InvalidOperation(InvalidInput):
    """One operation of an update is wrong; `index` says which."""

    code = "invalid_operation"
    default_detail = "The operation is not valid."

    def __init__(self, detail: str = "", *, index: int = 0, path: str = "") -> None:
        super().__init__(detail, path=path)
        self.index = index

    def extra(self) -> dict[str, Any]:
        return {"index": self.index, **super().extra()}


class MissingReason(InvalidInput):
    """An administrative change came without saying why."""

    code = "missing_reason"
    default_detail = "A reason is needed for this change."

    def __init__(self, detail: str = "", *, path: str = "reason") -> None:
        super().__init__(detail, path=path)


class BadCursor(InvalidInput):
    """A cursor is malformed."""

    code = "bad_cursor"
    default_detail = "The cursor is malformed."


class ForeignCursor(InvalidInput):
    """A cursor belongs to another thread."""

    code = "foreign_cursor"
    default_detail = "The cursor belongs to another thread."


class TooDeep(InvalidInput):
    """A JSON value nests deeper than the limit."""

    code = "too_deep"
    default_detail = "JSON may nest at most 1000 levels."


class TooLarge(InvalidInput):
    """A body or value is larger than the limit."""

    code = "too_large"
    default_detail = "The body is too large."
