"""DurableHost: what the executor does around a run: edits, steering, live events, the lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.journal.base import Release
from agentadmin.engine.journal.loading import refresh
from sessions_app.services.pending_edits import apply_edits_between_steps

if TYPE_CHECKING:
    from agentadmin.engine.events import Event
    from agentadmin.engine.journal.writer import JournalWriter
    from runs_app.desk import Desk
    from runs_app.metering import RunMeter
    from runs_app.stream import Publisher


class DurableHost:
    """The engine's `RunHost` for one run on a held thread."""

    def __init__(self, desk: Desk, publisher: Publisher, meter: RunMeter) -> None:
        self._desk = desk
        self._meter = meter
        self._publisher = publisher

    async def safe_point(self, writer: JournalWriter) -> None:
        """Take in what others asked for; looking costs nothing when there is nothing."""
        if self._desk.steers:
            await refresh(writer.store, writer.projection)
        edits = self._desk.edits
        if edits:
            await apply_edits_between_steps(writer, edits)
            self._desk.keep_open(edits)

    def release(self) -> Release:
        """The commit itself looks whether a control or a turn is waiting."""
        return Release.IF_IDLE

    def emit(self, event: Event) -> None:
        """To whoever watches, and to whoever counts."""
        self._meter.hear(event)
        self._publisher.event(event)
