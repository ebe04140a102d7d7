"""AgentStateStore: values by user, session and key, with versions (spec §2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.identity import check_id

if TYPE_CHECKING:
    from collections.abc import Sequence

ABSENT = 0
"""The version of what was never saved."""

UNVERSIONED = -1
"""The version that stores without versions report; as an expectation: save in any case."""

CONFLICT = -1
"""What `save_if_version` returns when nothing was written."""


@dataclass(frozen=True, slots=True)
class Versioned:
    """A value and the version that it was read at."""

    value: Any
    version: int


class ConflictPolicy(StrEnum):
    """What a call does when its thread was saved by somebody else meanwhile (spec §2.7)."""

    OVERWRITE = "overwrite"
    FAIL = "fail"
    APPEND_MERGE = "append_merge"


class AgentStateStore(Protocol):
    """A user id of None is the anonymous bucket, which no name can reach."""

    @property
    def supports_versioning(self) -> bool: ...

    async def save(self, user_id: str | None, session_id: str, key: str, value: Any) -> int:
        """Replace a value; returns its version from the write itself."""

    async def save_list(
        self, user_id: str | None, session_id: str, key: str, values: Sequence[Any]
    ) -> None:
        """Replace a list by the full list given."""

    async def get(self, user_id: str | None, session_id: str, key: str) -> Any:
        """The value, or None."""

    async def get_list(self, user_id: str | None, session_id: str, key: str) -> list[Any]:
        """The list, empty when absent."""

    async def get_versioned(self, user_id: str | None, session_id: str, key: str) -> Versioned:
        """The value with its version; absent is (None, 0)."""

    async def save_if_version(
        self, user_id: str | None, session_id: str, key: str, value: Any, expected: int
    ) -> int:
        """The new version, or -1 when the stored one differs; 0 creates, -1 saves anyway."""

    async def exists(self, user_id: str | None, session_id: str) -> bool:
        """Whether anything is kept for the session."""

    async def delete(self, user_id: str | None, session_id: str) -> None:
        """Forget the session."""

    async def delete_key(self, user_id: str | None, session_id: str, key: str) -> None:
        """Forget one key, in both its forms."""

    async def list_session_ids(self, user_id: str | None) -> list[str]:
        """The sessions of one user, as they were named."""

    async def close(self) -> None:
        """Give back connections."""


def check_slot(user_id: str | None, session_id: str, key: str = "-") -> None:
    """Refuses ids that no store may keep."""
    if user_id is not None:
        check_id(user_id, "user_id")
    check_id(session_id, "session_id")
    if not key.strip():
        raise InvalidInput("must not be blank", path="key")
