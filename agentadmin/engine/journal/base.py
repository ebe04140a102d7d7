"""The port that every thread journal implements, and the values that cross it (design §4, §6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.identity import ThreadKey
    from agentadmin.engine.journal.facts import Fact, SealedFact


@dataclass(frozen=True, slots=True)
class ThreadRef:
    """A thread that exists in a journal: its public id (UUID text) and its identity."""

    id: str
    key: ThreadKey


@dataclass(frozen=True, slots=True)
class Head:
    """Where a thread stands: last seq, state version, and who may write now."""

    seq: int
    version: int
    epoch: int
    owner: str | None
    live: bool


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write a thread's state: every commit carries the epoch, a stale one fails."""

    owner: str
    epoch: int
    head: Head | None = field(default=None, compare=False)
    """Where the thread stood when the lease was taken, where the journal says so."""


class CommitKind(StrEnum):
    """Which condition a commit is held to.

    run: the writer's own epoch. edit: no live lease, and the version as read; it bumps the epoch,
    so a worker frozen past its lease cannot write behind it. queue: none, and never a snapshot.
    """

    RUN = "run"
    EDIT = "edit"
    QUEUE = "queue"


class Release(StrEnum):
    """Whether a run's commit gives its lease back, decided inside the commit itself.

    idle: when no control is pending and no turn is queued. park: when no control is pending (the
    turns behind a parked one wait anyway).
    """

    NEVER = "never"
    IF_IDLE = "idle"
    PARK = "park"


@dataclass(frozen=True, slots=True)
class SnapshotDraft:
    """A new version of the state: everything but the messages, and which messages it holds.

    `substate` is canonical text, or None when it equals the previous version's. `replaced` is the
    seq of the last `context/replaced`, or None when this batch's own last one is meant
    (`replaced_in_batch` is then its index in the batch).
    """

    substate: str | None
    salt: bytes
    substate_commit: bytes
    replaced: int
    replaced_in_batch: int | None
    digest: bytes
    reason: str
    actor: str
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A committed version of the state; `substate` is always resolved to its text."""

    version: int
    seq: int
    replaced_seq: int
    substate: str
    substate_commit: bytes
    digest: bytes
    reason: str
    actor: str
    at: datetime
    messages: int
    tokens: int
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What one commit appends, and under which condition."""

    kind: CommitKind
    facts: Sequence[SealedFact] = ()
    snapshot: SnapshotDraft | None = None
    lease: Lease | None = None
    expected_version: int | None = None
    release: Release = Release.NEVER


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit got: its seqs (empty when `last_seq < first_seq`), the version, the time."""

    first_seq: int
    last_seq: int
    version: int
    epoch: int
    at: datetime
    released: bool = False
    facts: Sequence[Fact] = field(default_factory=tuple)


type RowAction = Callable[[Committed], None]
"""Runs inside the commit's transaction, after the facts; an error undoes the commit."""


class ThreadJournalStore(Protocol):
    """Stores facts and snapshots of threads; the conformance suite says what each method owes."""

    async def ensure(self, key: ThreadKey) -> ThreadRef:
        """The thread, made when it does not exist."""

    async def find(self, key: ThreadKey) -> ThreadRef | None:
        """The thread, or None; never creates."""

    async def head(self, ref: ThreadRef) -> Head:
        """Where the thread stands now."""

    async def claim(self, ref: ThreadRef, owner: str, seconds: float) -> Lease:
        """Take the lease with a new epoch. Raises ThreadBusy while another lease is live."""

    async def renew(self, ref: ThreadRef, lease: Lease, seconds: float) -> None:
        """Prolong the lease. Raises Fenced when the epoch has moved on."""

    async def release(self, ref: ThreadRef, lease: Lease) -> None:
        """Give the lease back; a lease that is no longer ours is left alone."""

    async def commit(
        self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()
    ) -> Committed:
        """Append atomically. Raises Fenced, StaleVersion, ThreadBusy or RunIdReused."""

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

    async def facts_at(self, ref: ThreadRef, seqs: Collection[int]) -> dict[int, Fact]:
        """The facts at these seqs."""

    async def has_run(self, ref: ThreadRef, run_id: str) -> bool:
        """Whether the thread holds a run with this id: a run id is used once."""

    async def snapshot(self, ref: ThreadRef, version: int | None = None) -> Snapshot | None:
        """The snapshot of a version, or the newest."""
