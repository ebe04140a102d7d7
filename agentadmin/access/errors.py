"""What can be wrong with a caller's proof of identity: leaves of the engine's error tree.

NotAuthenticated
├── TokenInvalid      token_invalid
├── TokenExpired      token_expired
└── TokenRevoked      token_revoked
Forbidden
├── CsrfFailed        csrf_failed
└── Refused           forbidden
NotFound
└── Hidden            not_found
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.errors import Forbidden, NotAuthenticated, NotFound

if TYPE_CHECKING:
    from agentadmin.audit.format import Target


class TokenInvalid(NotAuthenticated):
    """The token is not one of ours, or its user is no longer active."""

    code = "token_invalid"
    default_detail = "The token is not valid."


class TokenExpired(NotAuthenticated):
    """The token's time is over."""

    code = "token_expired"
    default_detail = "The token has expired; create a new one."


class TokenRevoked(NotAuthenticated):
    """Somebody revoked the token."""

    code = "token_revoked"
    default_detail = "The token was revoked."


class CsrfFailed(Forbidden):
    """A write came with a session cookie but without its CSRF token."""

    code = "csrf_failed"

    def __init__(self) -> None:
        super().__init__("csrf", "Send the CSRF token in X-CSRFToken.")

    def extra(self) -> dict[str, str]:
        return {}


class Refused(Forbidden):
    """A missing permission, with the place where it was missed, for the audit log."""

    def __init__(
        self, permission: str, *, namespace: str | None = None, target: Target | None = None
    ) -> None:
        super().__init__(permission)
        self.namespace = namespace
        self.target = target


class Hidden(NotFound):
    """A row that exists, but not for this caller: answered as any unknown id is, and audited."""

    def __init__(self, *, namespace: str | None, target: Target | None = None) -> None:
        super().__init__()
        self.namespace = namespace
        self.target = target
