"""Which versions allowed more than the one before them, told from their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionContext
from agentadmin.engine.state.widening import widening
from sessions_app.journal import reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from agentadmin.engine.journal.facts import Fact


def widened_versions(
    thread_id: UUID, told: Mapping[int, Mapping[str, Fact]], before: int | None
) -> dict[int, tuple[str, ...]]:
    """In which ways each version widened; those that did not have no entry.

    `before` is the version under all of these, None where the thread began with them.
    """
    contexts = {version: context for version in sorted(told) if (context := _held(told[version]))}
    if not contexts:
        return {}
    known = None if before is None else _at(thread_id, before)
    found: dict[int, tuple[str, ...]] = {}
    for version, context in contexts.items():
        if known is not None and (ways := widening(known, context)):
            found[version] = tuple(ways)
        known = context
    return found


def _held(told: Mapping[str, Fact]) -> PermissionContext | None:
    """The permission context that a version's facts name, if they name one."""
    changed, first = told.get(FactType.PERMISSION_CHANGED), told.get(FactType.BASELINE)
    if changed is not None:
        return _read(changed.payload)
    substate = first.payload.get("substate") if first else None
    return _read(substate) if isinstance(substate, dict) else None


def _at(thread_id: UUID, version: int) -> PermissionContext | None:
    snapshot = reading.snapshot(str(thread_id), version)
    if snapshot is None or snapshot.erased:
        return None
    try:
        substate = codec.loads(snapshot.substate)
    except DecodeError:
        return None
    return _read(substate) if isinstance(substate, dict) else None


def _read(holder: Mapping[str, Any]) -> PermissionContext | None:
    """One that cannot be read is unknown, so that one bad row never hides the others."""
    try:
        return PermissionContext.from_dict(holder.get("permission_context"))
    except DecodeError:
        return None
