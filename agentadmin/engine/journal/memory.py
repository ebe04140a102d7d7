"""A thread journal in memory: for tests, demos, and agents that need no durability."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentadmin.engine.clock import now
from agentadmin.engine.errors import Fenced, NotFound, StaleVersion, ThreadBusy
from agentadmin.engine.identity import ThreadKey, new_id
from agentadmin.engine.journal.base import (
    Batch,
    CommitKind,
    Committed,
    Head,
    Lease,
    Release,
    RowAction,
    Snapshot,
    SnapshotDraft,
    ThreadRef,
)
from agentadmin.engine.journal.facts import Fact, FactType

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime


@dataclass(slots=True)
class _Thread:
    """One thread's rows."""

    facts: list[Fact] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    owner: str | None = None
    epoch: int = 0
    until: float = 0.0

    @property
    def live(self) -> bool:
        return self.owner is not None and self.until > time.monotonic()


class InMemoryThreadJournal:
    """Keeps every thread of this process; all methods run without an await in the middle."""

    def __init__(self) -> None:
        self._refs: dict[ThreadKey, ThreadRef] = {}
        self._threads: dict[str, _Thread] = {}

    async def ensure(self, key: ThreadKey) -> ThreadRef:
        """The thread, made when it does not exist."""
        if key not in self._refs:
            self._refs[key] = ThreadRef(new_id(), key)
            self._threads[self._refs[key].id] = _Thread()
        return self._refs[key]

    async def find(self, key: ThreadKey) -> ThreadRef | None:
        """The thread, or None."""
        return self._refs.get(key)

    def _thread(self, ref: ThreadRef) -> _Thread:
        try:
            return self._threads[ref.id]
        except KeyError:
            raise NotFound("There is no such thread.") from None

    async def head(self, ref: ThreadRef) -> Head:
        """Where the thread stands now."""
        thread = self._thread(ref)
        return Head(
            len(thread.facts), len(thread.snapshots), thread.epoch, thread.owner, thread.live
        )

    async def claim(self, ref: ThreadRef, owner: str, seconds: float) -> Lease:
        """Take the lease with a new epoch. Raises ThreadBusy while another lease is live."""
        thread = self._thread(ref)
        if thread.live:
            raise ThreadBusy(thread.owner)
        thread.owner, thread.until = owner, time.monotonic() + seconds
        thread.epoch += 1
        return Lease(owner, thread.epoch, await self.head(ref))

    async def renew(self, ref: ThreadRef, lease: Lease, seconds: float) -> None:
        """Prolong the lease. Raises Fenced when the epoch has moved on."""
        thread = self._thread(ref)
        if thread.epoch != lease.epoch:
            raise Fenced("Another writer has taken this thread over.")
        thread.until = time.monotonic() + seconds

    async def release(self, ref: ThreadRef, lease: Lease) -> None:
        """Give the lease back; a lease that is no longer ours is left alone."""
        thread = self._thread(ref)
        if thread.epoch == lease.epoch:
            thread.owner = None

    async def commit(
        self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()
    ) -> Committed:
        """Append atomically. Raises Fenced, StaleVersion or ThreadBusy."""
        thread = self._thread(ref)
        self._check(thread, batch)
        first, at = len(thread.facts) + 1, now()
        epoch = thread.epoch + (batch.kind is CommitKind.EDIT)
        facts = [
            Fact.of(fact, seq=first + i, at=at, epoch=epoch) for i, fact in enumerate(batch.facts)
        ]
        version = len(thread.snapshots) + (batch.snapshot is not None)
        released = batch.release is not Release.NEVER
        committed = Committed(
            first, first + len(facts) - 1, version, epoch, at, released, tuple(facts)
        )
        for action in rows:
            action(committed)
        thread.facts.extend(facts)
        thread.epoch = epoch
        if batch.snapshot is not None:
            thread.snapshots.append(self._snapshot(thread, batch.snapshot, committed, at))
        if released:
            thread.owner = None
        return committed

    @staticmethod
    def _check(thread: _Thread, batch: Batch) -> None:
        if batch.kind is CommitKind.RUN and (
            batch.lease is None or batch.lease.epoch != thread.epoch
        ):
            raise Fenced("Another writer has taken this thread over.")
        if batch.kind is CommitKind.EDIT and thread.live:
            raise ThreadBusy(thread.owner)
        needs_version = batch.kind is CommitKind.EDIT or batch.snapshot is not None
        if needs_version and batch.expected_version != len(thread.snapshots):
            raise StaleVersion(len(thread.snapshots), None)

    @staticmethod
    def _snapshot(
        thread: _Thread, draft: SnapshotDraft, committed: Committed, at: datetime
    ) -> Snapshot:
        replaced = draft.replaced
        if draft.replaced_in_batch is not None:
            replaced = committed.first_seq + draft.replaced_in_batch
        text = draft.substate
        return Snapshot(
            version=committed.version,
            seq=committed.last_seq,
            replaced_seq=replaced,
            substate=thread.snapshots[-1].substate if text is None else text,
            substate_commit=draft.substate_commit,
            digest=draft.digest,
            reason=draft.reason,
            actor=draft.actor,
            at=at,
            messages=draft.messages,
            tokens=draft.tokens,
        )

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
        rows = self._thread(ref).facts[after:through]
        return [fact for fact in rows if types is None or fact.type in types][:limit]

    async def facts_at(self, ref: ThreadRef, seqs: Collection[int]) -> dict[int, Fact]:
        """The facts at these seqs."""
        rows = self._thread(ref).facts
        return {seq: rows[seq - 1] for seq in seqs if 0 < seq <= len(rows)}

    async def has_run(self, ref: ThreadRef, run_id: str) -> bool:
        """Whether the thread holds a run with this id."""
        return any(
            fact.type == FactType.RUN_START and fact.run_id == run_id
            for fact in self._thread(ref).facts
        )

    async def snapshot(self, ref: ThreadRef, version: int | None = None) -> Snapshot | None:
        """The snapshot of a version, or the newest."""
        rows = self._thread(ref).snapshots
        if version is None:
            return rows[-1] if rows else None
        return rows[version - 1] if 0 < version <= len(rows) else None
