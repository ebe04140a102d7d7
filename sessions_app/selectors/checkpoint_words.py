"""What a version did, in a few words: the same for the page and for the API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentadmin.engine.journal.facts import ITEM_TYPES, FactType
from sessions_app.selectors.checkpoints import CheckpointKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions_app.selectors.checkpoints import Checkpoint

_OF_RUN = {
    FactType.TURN_COMPLETED: "Turn completed",
    FactType.TURN_FAILED: "Turn failed",
    FactType.TURN_CANCELLED: "Turn cancelled",
    FactType.TURN_PAUSED: "Turn paused",
    FactType.TURN_SUSPENDED: "Waits for an answer",
    FactType.TOOL_RESULT: "Tool result saved",
    FactType.TOOL_DISPATCH: "Tools called",
    FactType.REQUEST_PREPARED: "Input taken in",
}
"""The first that a version of a run has; the last step says most."""
_PARTS = {
    FactType.PERMISSION_CHANGED: "permissions",
    FactType.TASK_CHANGED: "tasks",
    FactType.PLAN_CHANGED: "plan",
}
_FIELDS = {"summary": "summary", "tool_context": "tools"}
_UNTOLD = {"reply_id", "cur_iter", "shutdown_interrupted", "session_id", "user_id", "thread_id"}
"""What every call changes, and who the session is: nobody looks for these."""


def title_of(found: Checkpoint) -> str:
    """`Restored version 31`, `Turn completed`, `Permissions changed`."""
    kind = found.kind
    if kind is CheckpointKind.RESTORE:
        return f"Restored version {found.restored_version}"
    if kind is CheckpointKind.IMPORT:
        return f"Imported from {found.source}"
    if kind is CheckpointKind.FORK:
        return f"Forked from version {_origin(found, 'version')} of {_origin(found, 'session_id')}"
    if kind is CheckpointKind.REPAIR:
        return "Repaired before a run"
    if found.replaced_by == "compact":
        return f"Compacted to {_messages(found.row.messages)}"
    if kind is CheckpointKind.RUN:
        return next((words for type_, words in _OF_RUN.items() if type_ in found.groups), "Saved")
    return _edited(found)


def _origin(found: Checkpoint, name: str) -> object:
    """A field of where a fork came from."""
    origin = found.told[FactType.BASELINE].payload.get("from")
    return origin.get(name) if isinstance(origin, dict) else None


def _edited(found: Checkpoint) -> str:
    if FactType.INTERACTION_RESOLVED in found.groups:
        return "Rule added at a prompt" if _rules(found) else "Answered"
    if FactType.CONTEXT_REPLACED in found.groups and found.row.messages == 0:
        return "Working context cleared"
    rewritten = sum(found.groups[type_].count for type_ in found.groups if type_ in ITEM_TYPES)
    if rewritten and not found.messages_delta and FactType.CONTEXT_REPLACED not in found.groups:
        return f"{_messages(rewritten)} rewritten"
    parts = list(_parts(found))
    return f"{' and '.join(parts[:2])} changed".capitalize() if parts else "Edited"


def _messages(number: int) -> str:
    return f"{number:,} message" if number == 1 else f"{number:,} messages"


def _rules(found: Checkpoint) -> bool:
    return FactType.PERMISSION_CHANGED in found.groups


def changes_of(found: Checkpoint) -> list[str]:
    """What is different: messages by number, the other parts by name."""
    changed = list(_parts(found))
    if found.messages_delta:
        sign = "+" if found.messages_delta > 0 else "\N{MINUS SIGN}"
        changed[:0] = [f"{sign}{_messages(abs(found.messages_delta))}"]
        changed = [part for part in changed if part != "messages"]
    return changed


def _parts(found: Checkpoint) -> Iterator[str]:
    """The parts that its facts name."""
    if any(type_.startswith("message/") for type_ in found.groups) or (
        FactType.CONTEXT_REPLACED in found.groups or FactType.TOOL_RESULT in found.groups
    ):
        yield "messages"
    for type_, part in _PARTS.items():
        if type_ in found.groups:
            yield part
    told = found.told.get(FactType.STATE_CHANGED)
    if told is not None:
        yield from dict.fromkeys(_FIELDS.get(key, "other fields") for key in _fields(told.payload))


def _fields(payload: dict[str, object]) -> Iterator[str]:
    return (key for key in payload if key not in _UNTOLD)


_PREFIX = re.compile(r"^restore of version \d+: ")


def reason_of(found: Checkpoint) -> str:
    """Why somebody made it; what the program itself noted of a run says nothing to a person."""
    if found.kind is CheckpointKind.RESTORE:
        return _PREFIX.sub("", found.row.reason)
    return "" if found.kind in _UNREASONED else found.row.reason


_UNREASONED = (CheckpointKind.RUN, CheckpointKind.REPAIR, CheckpointKind.IMPORT)
