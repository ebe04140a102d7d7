"""Engine events (spec §11): what `stream_events` yields, and their form on the live wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso, now
from agentadmin.engine.identity import new_hex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class EventType(StrEnum):
    """Every event type of the engine, by its name in the spec."""

    AGENT_START = "AGENT_START"
    AGENT_END = "AGENT_END"
    AGENT_RESULT = "AGENT_RESULT"
    MODEL_CALL_START = "MODEL_CALL_START"
    MODEL_CALL_END = "MODEL_CALL_END"
    TEXT_BLOCK_START = "TEXT_BLOCK_START"
    TEXT_BLOCK_DELTA = "TEXT_BLOCK_DELTA"
    TEXT_BLOCK_END = "TEXT_BLOCK_END"
    THINKING_BLOCK_START = "THINKING_BLOCK_START"
    THINKING_BLOCK_DELTA = "THINKING_BLOCK_DELTA"
    THINKING_BLOCK_END = "THINKING_BLOCK_END"
    TOOL_CALL_START = "TOOL_CALL_START"
    TOOL_CALL_DELTA = "TOOL_CALL_DELTA"
    TOOL_CALL_END = "TOOL_CALL_END"
    TOOL_RESULT_START = "TOOL_RESULT_START"
    TOOL_RESULT_TEXT_DELTA = "TOOL_RESULT_TEXT_DELTA"
    TOOL_RESULT_DATA_DELTA = "TOOL_RESULT_DATA_DELTA"
    TOOL_RESULT_END = "TOOL_RESULT_END"
    EXCEED_MAX_ITERS = "EXCEED_MAX_ITERS"
    REQUIRE_USER_CONFIRM = "REQUIRE_USER_CONFIRM"
    REQUIRE_EXTERNAL_EXECUTION = "REQUIRE_EXTERNAL_EXECUTION"
    USER_CONFIRM_RESULT = "USER_CONFIRM_RESULT"
    EXTERNAL_EXECUTION_RESULT = "EXTERNAL_EXECUTION_RESULT"
    REQUEST_STOP = "REQUEST_STOP"
    ALL_TOOLS_DENIED = "ALL_TOOLS_DENIED"
    CUSTOM = "CUSTOM"


@dataclass(frozen=True, slots=True)
class Event:
    """One live event; `block` and `offset` place a delta, so that applying it is idempotent.

    A block is `<run_id>/<step>/<n>`; an offset counts characters from the block's start.
    """

    type: EventType
    fields: Mapping[str, Any] = field(default_factory=dict)
    execution: Mapping[str, str | None] = field(default_factory=dict)
    step_id: str | None = None
    block: str | None = None
    offset: int = 0
    id: str = field(default_factory=new_hex)
    created_at: datetime = field(default_factory=now)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def to_dict(self) -> dict[str, Any]:
        """The event in the spec's wire names; nulls are left out, `type` stands once."""
        filled = {key: value for key, value in self.fields.items() if value is not None}
        head: dict[str, Any] = {
            "type": str(self.type),
            "id": self.id,
            "createdAt": iso(self.created_at),
        }
        return {**head, **filled, "execution": dict(self.execution)}


@dataclass(frozen=True, slots=True)
class WireDelta:
    """A delta of the live stream (contract §3): never committed, a cache of what will be."""

    type: str
    data: dict[str, Any]
    step_id: str | None


_WIRE_TYPES = {
    EventType.TEXT_BLOCK_START: "text_block_start",
    EventType.TEXT_BLOCK_DELTA: "text_block_delta",
    EventType.TEXT_BLOCK_END: "text_block_end",
    EventType.THINKING_BLOCK_START: "thinking_block_start",
    EventType.THINKING_BLOCK_DELTA: "thinking_block_delta",
    EventType.THINKING_BLOCK_END: "thinking_block_end",
    EventType.TOOL_CALL_START: "tool_call_start",
    EventType.TOOL_CALL_DELTA: "tool_call_delta",
    EventType.TOOL_CALL_END: "tool_call_end",
    EventType.TOOL_RESULT_START: "tool_result_start",
    EventType.TOOL_RESULT_TEXT_DELTA: "tool_result_delta",
    EventType.TOOL_RESULT_DATA_DELTA: "tool_result_data",
    EventType.TOOL_RESULT_END: "tool_result_end",
}

_WIRE_FIELDS = {
    "delta": "delta",
    "data": "data",
    "state": "state",
    "messageId": "message_id",
    "toolCallId": "call_id",
    "toolCallName": "tool",
}


def to_wire(event: Event) -> WireDelta | None:
    """The live delta that an event becomes; None for events that facts tell anyway."""
    wire = _WIRE_TYPES.get(event.type)
    if wire is None:
        return None
    data: dict[str, Any] = {"block": event.block, "offset": event.offset}
    for name, value in event.fields.items():
        if name in _WIRE_FIELDS:
            data[_WIRE_FIELDS[name]] = value
    return WireDelta(wire, data, event.step_id)
