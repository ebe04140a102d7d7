"""The journal that everything outside of a run writes through, and what is known of an agent.

All come from `runs_app`, which this app does not know: the settings name them.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from sessions_app.journal.store import DjangoThreadJournal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.journal.base import Batch, Committed, RowAction, ThreadRef
    from agentadmin.engine.journal.facts import Fact
    from agentadmin.engine.state.permissions import PermissionContext


def thread_journal() -> DjangoThreadJournal:
    """The process's journal: it projects facts into rows and publishes them."""
    return _made(settings.THREAD_JOURNAL)


def agent_permissions(agent_id: str) -> PermissionContext:
    """The permission context with which a thread of this agent begins."""
    of_agent: Any = _imported(settings.AGENT_PERMISSIONS)
    permissions: PermissionContext = of_agent(agent_id)
    return permissions


def agent_window(agent_id: str) -> int | None:
    """How many tokens the agent's model takes in one request; None when nobody knows."""
    of_agent: Any = _imported(settings.AGENT_WINDOW)
    window: int | None = of_agent(agent_id)
    return window


def agent_spec(agent_id: str) -> AgentSpec | None:
    """Model, tools and defaults of an agent; None when nobody has defined it."""
    of_agent: Any = _imported(settings.AGENT_SPEC)
    spec: AgentSpec | None = of_agent(agent_id)
    return spec


def message_redacted(thread_id: UUID, facts: Sequence[Fact]) -> None:
    """Tell those who repeat what facts say that these say less now; in the commit's transaction."""
    _imported(settings.MESSAGE_REDACTED)(thread_id, facts)


@lru_cache(maxsize=16)
def _imported(path: str) -> Any:
    return import_string(path)


@lru_cache(maxsize=8)
def _made(path: str) -> DjangoThreadJournal:
    journal: DjangoThreadJournal = _imported(path)()
    return journal


class HeldJournal(DjangoThreadJournal):
    """A journal inside a transaction of the caller's: it publishes when that one commits."""

    def __init__(self, outer: DjangoThreadJournal) -> None:
        super().__init__(using=outer.using)
        self._outer = outer

    async def commit(
        self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()
    ) -> Committed:
        """Append within the caller's transaction."""
        return await sync_to_async(self._commit_held)(ref, batch, rows)

    def _commit_held(self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction]) -> Committed:
        committed = self._outer.commit_now(ref, batch, rows)
        transaction.on_commit(partial(self._tell, ref, committed.facts), using=self.using)
        return committed

    def _tell(self, ref: ThreadRef, facts: Sequence[Fact]) -> None:
        async_to_sync(self._outer.publish)(ref, facts)
