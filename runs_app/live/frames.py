"""What a live connection sends: events with their cursor, control frames without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from agentadmin.engine.errors import AgentAdminError
    from runs_app.live.closing import Closing


@dataclass(frozen=True, slots=True)
class EventFrame:
    """An event, and the cursor that covers everything up to it."""

    cursor: str
    type: str
    text: str

    def socket(self) -> str:
        """The frame as a websocket message."""
        return f'{{"type":"event","cursor":"{self.cursor}","event":{self.text}}}'

    def sse(self) -> str:
        """The frame as a server-sent event; canonical JSON has no line breaks."""
        return f"id: {self.cursor}\ndata: {self.text}\n\n"


@dataclass(frozen=True, slots=True)
class ControlFrame:
    """`ready`, `ping`, `gap`, `reset`, `closing`, `error` or `hint`: never a cursor."""

    type: str
    fields: dict[str, Any]

    def socket(self) -> str:
        """The frame as a websocket message."""
        return codec.dumps({"type": self.type, **self.fields}, levels=codec.WRAPPED)

    def sse(self) -> str:
        """The frame as a named server-sent event without an id."""
        return f"event: {self.type}\ndata: {self.socket()}\n\n"


type Frame = EventFrame | ControlFrame

PING = ControlFrame("ping", {})
RESET = ControlFrame("reset", {})


def closing_frame(closing: Closing) -> ControlFrame:
    """The last frame before the server closes."""
    return ControlFrame("closing", {"code": int(closing.code), "reason": closing.reason})


def error_frame(error: AgentAdminError) -> ControlFrame:
    """A refusal, with the code that problem JSON would carry."""
    return ControlFrame("error", {**error.extra(), "code": error.code, "detail": error.detail})
