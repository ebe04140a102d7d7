"""Operations on the working directories, in which `accept_edits` lets file edits pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.state.operations import OperationSpec
from agentadmin.engine.state.permissions.context import WorkingDirectory

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader

_PERMISSION = "permissions:edit"
_SUBSTATES = frozenset({"permission_context"})
DEFAULT_SOURCE = "session"
MAX_PATH = 4096


def _add(state: AgentState, operation: Reader, _now: datetime) -> None:
    """One that is there already stays as it is, once."""
    path = _path(operation)
    context = state.permission_context
    if any(each.path == path for each in context.working_directories.values()):
        return
    added = WorkingDirectory(path, operation.text("source") or DEFAULT_SOURCE)
    directories = {**context.working_directories, path: added}
    state.permission_context = replace(context, working_directories=directories)


def _remove(state: AgentState, operation: Reader, _now: datetime) -> None:
    path = _path(operation)
    context = state.permission_context
    kept = {
        key: each
        for key, each in context.working_directories.items()
        if path not in (key, each.path)
    }
    if len(kept) == len(context.working_directories):
        raise InvalidOperation(f"there is no working directory {path}", path="path")
    state.permission_context = replace(context, working_directories=kept)


def _path(operation: Reader) -> str:
    path = operation.required_text("path")
    if not path.strip():
        raise operation.refuse("path", "must not be blank")
    if len(path) > MAX_PATH:
        raise operation.refuse("path", f"must have at most {MAX_PATH} characters")
    if "\0" in path:
        raise operation.refuse("path", "must not hold NUL")
    return path


ADD_WORKING_DIRECTORY = OperationSpec(
    name="add_working_directory",
    permission=_PERMISSION,
    substates=_SUBSTATES,
    change=_add,
    fields=frozenset({"path", "source"}),
)
REMOVE_WORKING_DIRECTORY = OperationSpec(
    name="remove_working_directory",
    permission=_PERMISSION,
    substates=_SUBSTATES,
    change=_remove,
    fields=frozenset({"path"}),
)
