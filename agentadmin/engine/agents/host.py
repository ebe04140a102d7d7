"""RunHost: what the one who drives a run does around it; the default does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentadmin.engine.journal.base import Release

if TYPE_CHECKING:
    from agentadmin.engine.events import Event
    from agentadmin.engine.journal.writer import JournalWriter


class RunHost(Protocol):
    """Called by the loop from its own task; `emit` must return at once."""

    async def safe_point(self, writer: JournalWriter) -> None:
        """Between steps and before a permission gate: apply pending edits to `writer.state`."""

    def release(self) -> Release:
        """Whether the commit that ends or parks the turn may give the lease back."""

    def emit(self, event: Event) -> None:
        """Pass a live event on."""


class NoHost:
    """A run that nobody administers from outside."""

    async def safe_point(self, writer: JournalWriter) -> None:
        """Nothing is pending."""

    def release(self) -> Release:
        return Release.IF_IDLE

    def emit(self, event: Event) -> None:
        """Nobody listens."""
