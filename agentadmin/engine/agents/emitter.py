"""Emitter: turns what happens in a run into events, for as many listeners as there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentadmin.engine.events import Event, EventType
from agentadmin.engine.identity import new_hex

type Sink = Callable[[Event], None]


@dataclass(slots=True)
class Step:
    """One reasoning and acting round of a run; numbers its blocks."""

    run_id: str
    number: int
    reply_id: str = field(default_factory=new_hex)
    blocks: int = 0

    @property
    def id(self) -> str:
        return str(self.number)

    def next_block(self) -> str:
        self.blocks += 1
        return f"{self.run_id}/{self.number}/{self.blocks}"


class Emitter:
    """Emits with the run's identity on every event; costs nothing when nobody listens."""

    def __init__(self, execution: Mapping[str, str | None], sinks: Sequence[Sink]) -> None:
        self._execution = execution
        self._sinks = tuple(sinks)

    def __call__(
        self,
        type_: EventType,
        step: Step | None = None,
        *,
        block: str | None = None,
        offset: int = 0,
        **fields: Any,
    ) -> None:
        if not self._sinks:
            return
        event = Event(type_, fields, self._execution, step.id if step else None, block, offset)
        for sink in self._sinks:
            sink(event)
