"""The one permission table: every permission with its label, every role as a list of permissions.

Pages, API, sockets and commands share it; nothing else says who may do what.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PERMISSIONS: Mapping[str, str] = MappingProxyType(
    {
        "sessions:read": "Read sessions, conversations, states and runs",
        "sessions:create": "Create sessions",
        "sessions:fork": "Fork a session from one of its versions",
        "sessions:clear": "Clear or compact the working context",
        "sessions:edit_summary": "Change the summary",
        "sessions:edit": "Change to-dos, tasks, plan mode and tool groups",
        "sessions:redact": "Redact messages",
        "sessions:restore": "Restore an earlier version",
        "sessions:patch": "Change any part of a state by a JSON patch",
        "sessions:erase": "Erase a session or a person",
        "permissions:edit": "Change an agent's permission mode and rules",
        "permissions:widen": "Widen what an agent may do",
        "runs:submit": "Submit messages and turns",
        "runs:steer": "Steer, pause and resume turns",
        "runs:interrupt": "Interrupt runs",
        "runs:cancel": "Cancel turns",
        "runs:reconcile": "Record the outcome of tool calls that were cut off",
        "interactions:respond": "Answer approvals and questions",
        "agents:read": "Read agent definitions",
        "agents:manage": "Create and change agent definitions",
        "audit:read": "Read the audit log",
        "audit:verify": "Verify the audit log",
        "audit:export": "Export the audit log",
        "reports:create": "Create reports",
        "import": "Import states",
        "export": "Export states",
        "bulk": "Change many sessions at once",
        "tokens:own": "Create and revoke API tokens of one's own",
        "tokens:manage": "See and revoke everybody's API tokens",
        "access:manage": "Manage users and their roles",
        "system:read": "Read the state of workers, queues and stores",
    }
)


class RoleName(StrEnum):
    """The roles that are there from the start."""

    VIEWER = "viewer"
    AUDITOR = "auditor"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Role:
    """A named list of permissions."""

    name: RoleName
    label: str
    permissions: frozenset[str]


_VIEWER = frozenset({"sessions:read", "agents:read", "tokens:own", "system:read"})
_AUDITOR = _VIEWER | {"audit:read", "audit:verify", "audit:export", "export", "reports:create"}
_APPROVER = _VIEWER | {"interactions:respond"}
_OPERATOR = (
    _APPROVER
    | {"sessions:create", "sessions:fork", "sessions:clear", "sessions:edit_summary"}
    | {"sessions:edit", "sessions:redact", "sessions:restore"}
    | {"permissions:edit", "permissions:widen"}
    | {"runs:submit", "runs:steer", "runs:interrupt", "runs:cancel", "runs:reconcile"}
    | {"audit:read", "audit:verify", "import", "export", "bulk", "reports:create"}
)

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        role.name: role
        for role in (
            Role(RoleName.VIEWER, "Viewer", _VIEWER),
            Role(RoleName.AUDITOR, "Auditor", _AUDITOR),
            Role(RoleName.APPROVER, "Approver", _APPROVER),
            Role(RoleName.OPERATOR, "Operator", _OPERATOR),
            Role(RoleName.ADMIN, "Admin", frozenset(PERMISSIONS)),
        )
    }
)


def permissions_of(role: str) -> frozenset[str]:
    """What a role allows; a role that is no longer known allows nothing."""
    known = ROLES.get(role)
    return known.permissions if known else frozenset()


def unknown_permissions(names: Iterable[str]) -> list[str]:
    """The names that the table does not have, sorted."""
    return sorted(set(names) - PERMISSIONS.keys())
