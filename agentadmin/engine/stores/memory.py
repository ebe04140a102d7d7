"""InMemoryAgentStateStore: versioned, and it keeps copies, so nobody shares what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec
from agentadmin.engine.stores.base import ABSENT, CONFLICT, UNVERSIONED, Versioned, check_slot

if TYPE_CHECKING:
    from collections.abc import Sequence

type Slot = tuple[str | None, str]


class InMemoryAgentStateStore:
    """Lost with its process; for tests and single-process use."""

    supports_versioning = True

    def __init__(self) -> None:
        self._values: dict[Slot, dict[str, tuple[str, int]]] = {}
        self._lists: dict[Slot, dict[str, list[str]]] = {}

    async def save(self, user_id: str | None, session_id: str, key: str, value: Any) -> int:
        """Replace a value; the version grows by one."""
        return await self.save_if_version(user_id, session_id, key, value, UNVERSIONED)

    async def save_list(
        self, user_id: str | None, session_id: str, key: str, values: Sequence[Any]
    ) -> None:
        """Replace the list; an empty one is kept as empty."""
        check_slot(user_id, session_id, key)
        rows = [codec.dumps(value) for value in values]
        self._lists.setdefault((user_id, session_id), {})[key] = rows

    async def get(self, user_id: str | None, session_id: str, key: str) -> Any:
        """A copy of the value, or None."""
        return (await self.get_versioned(user_id, session_id, key)).value

    async def get_list(self, user_id: str | None, session_id: str, key: str) -> list[Any]:
        """Copies of the list's values."""
        check_slot(user_id, session_id, key)
        rows = self._lists.get((user_id, session_id), {}).get(key, [])
        return [codec.loads(row) for row in rows]

    async def get_versioned(self, user_id: str | None, session_id: str, key: str) -> Versioned:
        """A copy of the value with its version."""
        check_slot(user_id, session_id, key)
        found = self._values.get((user_id, session_id), {}).get(key)
        if found is None:
            return Versioned(None, ABSENT)
        return Versioned(codec.loads(found[0]), found[1])

    async def save_if_version(
        self, user_id: str | None, session_id: str, key: str, value: Any, expected: int
    ) -> int:
        """Compare and swap; nothing is awaited in between."""
        check_slot(user_id, session_id, key)
        text = codec.dumps(value)
        slot = self._values.setdefault((user_id, session_id), {})
        version = slot[key][1] if key in slot else ABSENT
        if expected not in {UNVERSIONED, version}:
            return CONFLICT
        slot[key] = (text, version + 1)
        return version + 1

    async def exists(self, user_id: str | None, session_id: str) -> bool:
        """Whether anything is kept for the session."""
        slot = (user_id, session_id)
        return bool(self._values.get(slot) or self._lists.get(slot))

    async def delete(self, user_id: str | None, session_id: str) -> None:
        """Forget the session."""
        self._values.pop((user_id, session_id), None)
        self._lists.pop((user_id, session_id), None)

    async def delete_key(self, user_id: str | None, session_id: str, key: str) -> None:
        """Forget one key; its version starts again."""
        self._values.get((user_id, session_id), {}).pop(key, None)
        self._lists.get((user_id, session_id), {}).pop(key, None)

    async def list_session_ids(self, user_id: str | None) -> list[str]:
        """The sessions of one user."""
        slots = [*self._values.items(), *self._lists.items()]
        return sorted({slot[1] for slot, kept in slots if kept and slot[0] == user_id})

    async def close(self) -> None:
        """Nothing is held."""
