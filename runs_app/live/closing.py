"""Why a live connection ends, and the close codes that say it (contract §3, *Websocket*)."""

from __future__ import annotations

from enum import IntEnum

from agentadmin.engine.errors import (
    AgentAdminError,
    BadCursor,
    CursorAhead,
    Forbidden,
    ForeignCursor,
    NotAuthenticated,
    NotFound,
)


class CloseCode(IntEnum):
    """Close codes of sockets; an event stream carries them in its `closing` frame."""

    INTERNAL = 1011
    BAD_CURSOR = 4400
    NOT_AUTHENTICATED = 4401
    NOT_ALLOWED = 4403
    UNKNOWN = 4404
    SLOW = 4408


class Closing(Exception):  # noqa: N818 - an end, not an error
    """The connection ends in order; the client may come back with its cursor."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


SLOW = Closing(CloseCode.SLOW, "slow_consumer")

_CODES: tuple[tuple[type[AgentAdminError], CloseCode], ...] = (
    (BadCursor, CloseCode.BAD_CURSOR),
    (ForeignCursor, CloseCode.BAD_CURSOR),
    (CursorAhead, CloseCode.BAD_CURSOR),
    (NotAuthenticated, CloseCode.NOT_AUTHENTICATED),
    (Forbidden, CloseCode.NOT_ALLOWED),
    (NotFound, CloseCode.UNKNOWN),
)


def close_code(error: AgentAdminError) -> CloseCode:
    """The close code of a refusal."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), CloseCode.INTERNAL)
