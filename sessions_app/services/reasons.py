"""Why somebody changes something: asked for everywhere in the same way."""

from __future__ import annotations

from agentadmin.engine.errors import InvalidInput, MissingReason

MAX_REASON = 2000


def checked_reason(reason: object) -> str:
    """The reason as it came: 1 to 2,000 characters that any database can hold."""
    if reason is None or (isinstance(reason, str) and not reason.strip()):
        raise MissingReason
    if not isinstance(reason, str):
        raise InvalidInput("must be text", path="reason")
    if len(reason) > MAX_REASON:
        raise InvalidInput(f"has more than {MAX_REASON} characters", path="reason")
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in reason):
        raise InvalidInput("holds characters that cannot be stored", path="reason")
    return reason
