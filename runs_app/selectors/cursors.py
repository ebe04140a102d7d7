"""Where a list of rows that are sorted by time and text id goes on."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta

from agentadmin.engine.errors import BadCursor

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def row_cursor(at: datetime, id_: str) -> str:
    """A cursor behind this row; ids are opaque, so they are wrapped."""
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return f"{micros}.{base64.urlsafe_b64encode(id_.encode()).decode().rstrip('=')}"


def parse_row_cursor(text: str) -> tuple[datetime, str]:
    """What `row_cursor` wrote; anything else is refused."""
    micros, _, wrapped = text.partition(".")
    try:
        id_ = base64.b64decode(wrapped + "=" * (-len(wrapped) % 4), altchars=b"-_", validate=True)
        if b"\0" in id_:
            raise ValueError("NUL")
        return _EPOCH + timedelta(microseconds=int(micros)), id_.decode()
    except (ValueError, OverflowError, binascii.Error):
        raise BadCursor("The cursor is not one that this list gave.", path="cursor") from None
