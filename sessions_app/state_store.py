"""`DjangoAgentStateStore`: the state store over a table, for snapshot mode and other keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.db import IntegrityError, transaction
from django.db.models import F

from agentadmin.engine.clock import now
from agentadmin.engine.identity import check_id
from agentadmin.engine.state import codec
from agentadmin.engine.stores.base import ABSENT, CONFLICT, UNVERSIONED, Versioned, check_slot
from sessions_app.models import StateEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

VALUE, LIST = "value", "list"
DEFAULT_NAMESPACE = "default"


class DjangoAgentStateStore:
    """Versioned; a conditional UPDATE decides who was first. Ids are compared to the letter."""

    supports_versioning = True

    def __init__(self, *, namespace: str = DEFAULT_NAMESPACE, using: str = "default") -> None:
        self._namespace = check_id(namespace, "namespace")
        self._using = using

    async def save(self, user_id: str | None, session_id: str, key: str, value: Any) -> int:
        """Replace a value; the version grows by one."""
        return await self.save_if_version(user_id, session_id, key, value, UNVERSIONED)

    async def save_list(
        self, user_id: str | None, session_id: str, key: str, values: Sequence[Any]
    ) -> None:
        """Replace the list; an empty one is kept as empty."""
        entry = self._entry(user_id, session_id, key, LIST)
        await sync_to_async(self._write)(entry, codec.dumps(list(values)), UNVERSIONED)

    async def get(self, user_id: str | None, session_id: str, key: str) -> Any:
        """The value, or None."""
        return (await self.get_versioned(user_id, session_id, key)).value

    async def get_list(self, user_id: str | None, session_id: str, key: str) -> list[Any]:
        """The list's values, none when there is no list."""
        entry = self._entry(user_id, session_id, key, LIST)
        text = await self._same(entry).values_list("value", flat=True).afirst()
        return [] if text is None else list(codec.loads(text))

    async def get_versioned(self, user_id: str | None, session_id: str, key: str) -> Versioned:
        """The value with its version."""
        entry = self._entry(user_id, session_id, key, VALUE)
        row = await self._same(entry).values_list("value", "version").afirst()
        return Versioned(None, ABSENT) if row is None else Versioned(codec.loads(row[0]), row[1])

    async def save_if_version(
        self, user_id: str | None, session_id: str, key: str, value: Any, expected: int
    ) -> int:
        """Compare and swap in one statement."""
        entry = self._entry(user_id, session_id, key, VALUE)
        return await sync_to_async(self._write)(entry, codec.dumps(value), expected)

    async def exists(self, user_id: str | None, session_id: str) -> bool:
        """Whether anything is kept for the session."""
        return await self._slot(user_id, session_id).aexists()

    async def delete(self, user_id: str | None, session_id: str) -> None:
        """Forget the session."""
        await self._slot(user_id, session_id).adelete()

    async def delete_key(self, user_id: str | None, session_id: str, key: str) -> None:
        """Forget one key, in both its forms; its version starts again."""
        hashes = [
            self._entry(user_id, session_id, key, form).identity_hash for form in (VALUE, LIST)
        ]
        await self._rows().filter(identity_hash__in=hashes).adelete()

    async def list_session_ids(self, user_id: str | None) -> list[str]:
        """The sessions of one user, as they were named."""
        mine = self._rows().filter(namespace=self._namespace, user_id=user_id)
        names = mine.order_by("session_id").values_list("session_id", flat=True).distinct()
        return [name async for name in names]

    async def close(self) -> None:
        """Connections are Django's."""

    def _write(self, entry: StateEntry, text: str, expected: int) -> int:
        """The new version, or CONFLICT; of two who create, one is told of the other."""
        while True:
            if expected != ABSENT and (version := self._update(entry, text, expected)) is not None:
                return version
            if expected not in {ABSENT, UNVERSIONED}:
                return CONFLICT
            entry.value, entry.version = text, 1
            try:
                with transaction.atomic(using=self._using):
                    entry.save(using=self._using, force_insert=True)
            except IntegrityError:
                if expected == ABSENT:
                    return CONFLICT
            else:
                return 1

    def _update(self, entry: StateEntry, text: str, expected: int) -> int | None:
        rows = self._same(entry)
        if expected != UNVERSIONED:
            rows = rows.filter(version=expected)
        with transaction.atomic(using=self._using):
            if not rows.update(value=text, version=F("version") + 1, updated_at=now()):
                return None
            return self._same(entry).values_list("version", flat=True).get()

    def _entry(self, user_id: str | None, session_id: str, key: str, form: str) -> StateEntry:
        check_slot(user_id, session_id, key)
        check_id(key, "key")
        identity = [self._namespace, user_id, session_id, key, form]
        return StateEntry(
            namespace=self._namespace,
            user_id=user_id,
            session_id=session_id,
            key=key,
            identity_hash=codec.sha256(codec.dumps(identity)),
        )

    def _rows(self) -> QuerySet[StateEntry]:
        return StateEntry.objects.using(self._using)

    def _same(self, entry: StateEntry) -> QuerySet[StateEntry]:
        return self._rows().filter(identity_hash=entry.identity_hash)

    def _slot(self, user_id: str | None, session_id: str) -> QuerySet[StateEntry]:
        check_slot(user_id, session_id)
        return self._rows().filter(
            namespace=self._namespace, user_id=user_id, session_id=session_id
        )
