"""Reads of the audit log that belong into it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.audit.format import NewEntry, Outcome, Target
from agentadmin.audit.later import append_later

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.audit.format import AuditActor


def note_export(actor: AuditActor, wanted: Mapping[str, object], format: str) -> None:
    """Somebody took a copy of what the log says."""
    append_later(
        NewEntry(
            namespace=None,
            actor=actor,
            action="audit.export",
            target=Target(kind="audit", label=f"as {format}"),
            outcome=Outcome.ALLOWED,
            content={"format": format, "filters": {k: str(v) for k, v in wanted.items()}},
        )
    )
