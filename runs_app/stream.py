"""Publishing live events, from runs and from services; never waits for Redis (design §7).

`published` is what a journal awaits after COMMIT. `Publisher` belongs to one run: its deltas and
the thread's facts go through the same lane, so their order is that of the calls.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from agentadmin.engine.events import to_wire
from runs_app.live.lanes import always
from runs_app.live.writer import StreamWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentadmin.engine.events import Event, WireDelta
    from agentadmin.engine.journal.base import ThreadRef
    from agentadmin.engine.journal.facts import Fact

writer = StreamWriter()
atexit.register(writer.close)


def publish_facts(ref: ThreadRef, facts: Sequence[Fact]) -> None:
    """Send committed facts to whoever watches; call it after COMMIT, from any thread or loop."""
    writer.facts(ref.id, facts)


async def published(ref: ThreadRef, facts: Sequence[Fact]) -> None:
    """`publish_facts` for a journal, which awaits it."""
    writer.facts(ref.id, facts)


def hint_fleet(thread_id: str) -> None:
    """Tell the lists about a change that is no fact (a control was asked for or answered)."""
    writer.hint(thread_id)


class Publisher:
    """The live side of one run. `holds` says whether the run's lease is still live."""

    def __init__(self, ref: ThreadRef, *, holds: Callable[[], bool] = always) -> None:
        self._thread_id = ref.id
        self._holds = holds
        writer.hold(ref.id, holds)

    def event(self, event: Event) -> None:
        """Send an engine event, if it is one that facts do not tell."""
        delta = to_wire(event)
        if delta is not None:
            execution = event.execution
            self.delta(delta, run_id=execution.get("runId"), turn_id=execution.get("turnId"))

    def delta(self, delta: WireDelta, *, run_id: str | None, turn_id: str | None) -> None:
        """Send a delta; text of one block is joined for up to 40 ms."""
        writer.delta(self._thread_id, delta, run_id, turn_id)

    async def facts(self, facts: Sequence[Fact]) -> None:
        """Send committed facts behind the deltas before them."""
        writer.facts(self._thread_id, facts)

    async def aclose(self) -> None:
        """The run is over: what it had to say is on its way."""
        writer.unhold(self._thread_id, self._holds)
