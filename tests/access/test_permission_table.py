"""The table is whole, and roles grow where they should."""

import pytest

from agentadmin.access.permissions import PERMISSIONS, ROLES, permissions_of, unknown_permissions


@pytest.mark.parametrize("role", ROLES)
def test_every_role_consists_of_known_permissions(role: str) -> None:
    assert not unknown_permissions(permissions_of(role))


def test_an_admin_may_everything_and_nobody_else_manages_access() -> None:
    assert permissions_of("admin") == set(PERMISSIONS)
    for role in set(ROLES) - {"admin"}:
        assert not permissions_of(role) & {
            "access:manage",
            "tokens:manage",
            "agents:manage",
            "sessions:erase",
            "sessions:patch",
        }


def test_every_role_reads_and_an_unknown_one_may_nothing() -> None:
    assert all("sessions:read" in role.permissions for role in ROLES.values())
    assert permissions_of("janitor") == frozenset()


def test_a_viewer_an_auditor_and_an_approver_change_no_session() -> None:
    changing = {"sessions:clear", "sessions:edit", "permissions:edit", "runs:submit", "import"}
    for role in ("viewer", "auditor", "approver"):
        assert not permissions_of(role) & changing
