"""What proves a version: its digest, and who made it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions_app.models import StateSnapshot

if TYPE_CHECKING:
    from sessions_app.models import AgentThread


def version_row(thread: AgentThread, version: int) -> StateSnapshot | None:
    """The row of a version, without its text; None for a thread that never ran."""
    rows = StateSnapshot.objects.defer("substate").filter(thread=thread, version=version)
    return rows.first()
