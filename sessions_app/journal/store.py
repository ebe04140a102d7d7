"""`DjangoThreadJournal`: the journal port over the relational tables (design §4, §6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connections, transaction
from django.db.models import F

from agentadmin.engine.errors import Fenced, NotFound, StaleVersion, ThreadBusy
from agentadmin.engine.journal.base import (
    Batch,
    CommitKind,
    Committed,
    Head,
    Lease,
    RowAction,
    Snapshot,
    ThreadRef,
)
from agentadmin.engine.journal.facts import Fact, FactType
from sessions_app.journal import reading, single, sql
from sessions_app.journal import rows as table
from sessions_app.models import AgentThread, JournalFact, StateSnapshot

if TYPE_CHECKING:
    from agentadmin.engine.identity import ThreadKey


class Projector(Protocol):
    """Writes the rows that mirror facts (turns, runs, thread status) inside the commit."""

    types: Collection[str]
    """The facts that it reads: a commit without any does without it."""

    def __call__(self, ref: ThreadRef, committed: Committed) -> None:
        """Bring the rows to where these facts leave the thread."""


type Published = Callable[[ThreadRef, Sequence[Fact]], Awaitable[None]]
"""Awaited after COMMIT with the facts of the batch."""


class DjangoThreadJournal:
    """Facts and snapshots in the database; one instance may serve every thread.

    `projector` runs in the transaction of each commit, `published` after it. Both come from above:
    this app knows nothing of runs.
    """

    def __init__(
        self,
        *,
        using: str = "default",
        projector: Projector | None = None,
        published: Published | None = None,
    ) -> None:
        self.using = using
        self._projector = projector
        self._published = published

    async def ensure(self, key: ThreadKey) -> ThreadRef:
        """The thread, made with its session when it does not exist."""
        return await sync_to_async(table.ensure_thread)(key, self.using)

    async def find(self, key: ThreadKey) -> ThreadRef | None:
        """The thread, or None."""
        return await sync_to_async(table.find_thread)(key, self.using)

    async def head(self, ref: ThreadRef) -> Head:
        """Where the thread stands now."""
        return await sync_to_async(self._head)(ref)

    async def claim(self, ref: ThreadRef, owner: str, seconds: float) -> Lease:
        """Take the lease with a new epoch. Raises ThreadBusy while another lease is live."""
        return await sync_to_async(self._claim)(ref, owner, seconds)

    async def renew(self, ref: ThreadRef, lease: Lease, seconds: float) -> None:
        """Prolong the lease. Raises Fenced when the epoch has moved on."""
        if not await sync_to_async(renew_lease)(ref.id, lease, seconds, self.using):
            raise Fenced("Another writer has taken this thread over.")

    async def release(self, ref: ThreadRef, lease: Lease) -> None:
        """Give the lease back; a lease that is no longer ours is left alone."""
        threads = AgentThread.objects.using(self.using)
        mine = threads.filter(id=ref.id, lease_epoch=lease.epoch)
        await mine.aupdate(lease_owner=None, lease_until=None)

    async def commit(
        self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()
    ) -> Committed:
        """Append atomically. Raises Fenced, StaleVersion or ThreadBusy; then nothing is written."""
        committed = await sync_to_async(self.commit_now)(ref, batch, rows)
        await self.publish(ref, committed.facts)
        return committed

    async def publish(self, ref: ThreadRef, facts: Sequence[Fact]) -> None:
        """Tell the live side what was committed."""
        if self._published is not None and facts:
            await self._published(ref, facts)

    def commit_now(self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()) -> Committed:
        """The commit itself, for callers inside a transaction of their own; publishes nothing."""
        words = sql.dialect(self.using)
        whole = single.is_single(words, batch)
        projector = self._projector if self._is_projected(batch) else None
        alone = whole and projector is None and not rows
        with self._transaction(alone=alone), connections[self.using].cursor() as cursor:
            append = single.append if whole else sql.append
            committed = append(cursor, words, ref, batch)
            if committed is None:
                raise self._refusal(ref, batch)
            committed = replace(committed, facts=sql.committed_facts(batch, committed))
            if projector is not None:
                projector(ref, committed)
            for action in rows:
                action(committed)
        return committed

    def _is_projected(self, batch: Batch) -> bool:
        types = self._projector.types if self._projector is not None else ()
        return any(fact.type in types for fact in batch.facts)

    def _transaction(self, *, alone: bool) -> AbstractContextManager[Any]:
        """A statement that stands alone is its own transaction, without a word around it."""
        if alone and not connections[self.using].in_atomic_block:
            return nullcontext()
        return transaction.atomic(using=self.using)

    def _refusal(self, ref: ThreadRef, batch: Batch) -> Exception:
        """Why the conditional UPDATE found no row."""
        head = self._head(ref)
        if batch.kind is CommitKind.RUN and (
            batch.lease is None or batch.lease.epoch != head.epoch
        ):
            return Fenced("Another writer has taken this thread over.")
        if batch.kind is CommitKind.EDIT and head.live:
            return ThreadBusy(active_run(ref.id, self.using))
        return StaleVersion(head.version, None)

    def _head(self, ref: ThreadRef) -> Head:
        row = table.head_row(ref.id, self.using)
        if row is None:
            raise NotFound("There is no such thread.")
        return row

    def _claim(self, ref: ThreadRef, owner: str, seconds: float) -> Lease:
        head = claim_lease(ref.id, owner, seconds, self.using)
        if head is None:
            self._head(ref)
            raise ThreadBusy(active_run(ref.id, self.using))
        return Lease(owner, head.epoch, head)

    async def facts(
        self,
        ref: ThreadRef,
        *,
        after: int = 0,
        limit: int = 1000,
        types: Collection[str] | None = None,
        through: int | None = None,
    ) -> list[Fact]:
        """Facts in seq order, `after` excluded, `through` included."""
        read = sync_to_async(reading.facts_between)
        return await read(ref.id, after, through, types, limit, self.using)

    async def facts_at(self, ref: ThreadRef, seqs: Collection[int]) -> dict[int, Fact]:
        """The facts at these seqs."""
        read = sync_to_async(reading.facts_at)
        return {fact.seq: fact for fact in await read(ref.id, seqs, self.using)}

    async def has_run(self, ref: ThreadRef, run_id: str) -> bool:
        """Whether the thread holds a run with this id."""
        facts = JournalFact.objects.using(self.using)
        found = facts.filter(thread_id=UUID(ref.id), type=FactType.RUN_START, run_id=run_id)
        return await found.aexists()

    async def snapshot(self, ref: ThreadRef, version: int | None = None) -> Snapshot | None:
        """The snapshot of a version, or the newest."""
        return await sync_to_async(reading.snapshot)(ref.id, version, self.using)


def active_run(thread_id: str, using: str = "default") -> str | None:
    """The id of the run that holds the thread now."""
    threads = AgentThread.objects.using(using).filter(id=thread_id)
    return threads.values_list("active_run_id", flat=True).first()


def claim_lease(thread_id: str, owner: str, seconds: float, using: str = "default") -> Head | None:
    """Take a lease by conditional UPDATE; the head with its new epoch, or None if one is live."""
    words = sql.dialect(using)
    until, until_params = words.time(seconds)
    moment, moment_params = words.time()
    with connections[using].cursor() as cursor:
        cursor.execute(
            f"UPDATE {sql.THREAD} SET lease_owner = %s, lease_epoch = lease_epoch + 1, "  # noqa: S608
            f"lease_until = {until} WHERE id = %s "
            f"AND (lease_until IS NULL OR lease_until <= {moment}) "
            "RETURNING head_seq, version, lease_epoch",
            [owner, *until_params, words.uuid(thread_id), *moment_params],
        )
        row = cursor.fetchone()
    return None if row is None else Head(row[0], row[1], row[2], owner, live=True)


def renew_lease(thread_id: str, lease: Lease, seconds: float, using: str = "default") -> bool:
    """Prolong a lease by the database's clock; False when it is no longer ours."""
    words = sql.dialect(using)
    until, params = words.time(seconds)
    with connections[using].cursor() as cursor:
        cursor.execute(
            f"UPDATE {sql.THREAD} SET lease_until = {until} "  # noqa: S608
            "WHERE id = %s AND lease_epoch = %s AND lease_owner IS NOT NULL",
            [*params, words.uuid(thread_id), lease.epoch],
        )
        return bool(cursor.rowcount == 1)


def count_control(thread_id: str, delta: int) -> None:
    """Count a pending control in or out, so that the lease is not given back under it."""
    AgentThread.objects.filter(id=thread_id).update(pending_controls=F("pending_controls") + delta)


def snapshot_rows(thread_id: Any) -> Any:
    """Every version of a thread, newest first."""
    return StateSnapshot.objects.filter(thread_id=thread_id).order_by("-version")
