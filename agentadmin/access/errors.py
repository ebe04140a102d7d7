"""What can be wrong with a caller's proof of identity: leaves of the engine's error tree.

NotAuthenticated
├── TokenInvalid      token_invalid
├── TokenExpired      token_expired
└── TokenRevoked      token_revoked
Forbidden
└── CsrfFailed        csrf_failed
"""

from __future__ import annotations

from agentadmin.engine.errors import Forbidden, NotAuthenticated


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
