"""The root of the tree of errors."""

# The names say what happened, not that it is an error.

from __future__ import annotations

from typing import Any, ClassVar


class AgentAdminError(Exception):
    """Anything that AgentAdmin refuses or fails at, with a stable code."""

    code: ClassVar[str] = "error"
    default_detail: ClassVar[str] = "Something went wrong."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail or self.default_detail
        super().__init__(self.detail)

    def extra(self) -> dict[str, Any]:
        """What the problem JSON carries besides code and detail."""
        return {}
