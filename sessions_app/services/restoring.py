"""The operation `restore`: the state of an earlier version comes back as a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.journal.loading import load
from agentadmin.engine.state.calls import open_calls

if TYPE_CHECKING:
    from sessions_app.services.resolving import Ground


async def resolve_restore(operation: dict[str, Any], ground: Ground) -> dict[str, Any]:
    """Read the version that is named; its messages are referred to where they stand."""
    version, newest = operation.get("version"), ground.projection.version
    if type(version) is not int:
        raise InvalidOperation("must be a whole number", path="version")
    if not 1 <= version <= newest:
        raise InvalidOperation(f"This thread has no version {version}.", path="version")
    source = await load(ground.journal, ground.projection.ref, version)
    state = source.state()
    held = {id(item.msg.raw): item for item in source.items.values()}
    ground.items += [held[id(msg.raw)] for msg in state.context if id(msg.raw) in held]
    if calls := len(open_calls(state)):
        ground.told.append(
            f"{calls} tool {'call has' if calls == 1 else 'calls have'} no result in that version; "
            f"the next run closes {'it' if calls == 1 else 'them'} without running anything."
        )
    payload = {"version": version, "seq": source.seq}
    ground.notes.append(NewFact(FactType.STATE_RESTORED, payload, required=False))
    return {**operation, "state": state}
