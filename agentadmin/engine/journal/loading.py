"""Reading a thread's projection from any journal: nearest snapshot, then the facts after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.errors import DecodeError, NotFound, StateUnreadable
from agentadmin.engine.journal.facts import Fact, FactType
from agentadmin.engine.journal.projection import (
    PROJECTED_TYPES,
    ThreadProjection,
    entry_seqs,
    input_seq,
)
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentadmin.engine.journal.base import Head, Snapshot, ThreadJournalStore, ThreadRef

PAGE = 2000


async def load(
    store: ThreadJournalStore, ref: ThreadRef, version: int | None = None
) -> ThreadProjection:
    """The projection at a version, or at the head. Raises NotFound for an unknown version."""
    snapshot = await store.snapshot(ref, version)
    if snapshot is None and version is not None:
        raise NotFound(f"This thread has no version {version}.")
    projection = ThreadProjection(ref)
    if snapshot is None:
        await refresh(store, projection)
        return projection
    await _read(store, projection, after=max(snapshot.replaced_seq - 1, 0), through=snapshot.seq)
    _adopt(projection, snapshot)
    if version is None:
        await refresh(store, projection)
    return projection


async def forward(
    store: ThreadJournalStore, projection: ThreadProjection, version: int
) -> ThreadProjection:
    """The projection at a later version; only what came between is read where that is less."""
    snapshot = await store.snapshot(projection.ref, version)
    if snapshot is None:
        raise NotFound(f"This thread has no version {version}.")
    if snapshot.replaced_seq > projection.seq:
        # The later one does not rest on the messages that are known.
        return await load(store, projection.ref, version)
    await _read(store, projection, after=projection.seq, through=snapshot.seq)
    _adopt(projection, snapshot)
    return projection


def _adopt(projection: ThreadProjection, snapshot: Snapshot) -> None:
    _adopt_substate(projection, snapshot)
    projection.seq = snapshot.seq


def _adopt_substate(projection: ThreadProjection, snapshot: Snapshot) -> None:
    try:
        substate = codec.loads(snapshot.substate)
    except DecodeError as error:
        what = f"The state of version {snapshot.version} is {error.detail}."
        raise StateUnreadable(what) from error
    if not isinstance(substate, dict):
        raise StateUnreadable(f"The state of version {snapshot.version} is not an object.")
    projection.substate = substate
    projection.substate_commit = snapshot.substate_commit
    projection.version = snapshot.version


async def refresh(
    store: ThreadJournalStore, projection: ThreadProjection, head: Head | None = None
) -> None:
    """Fold in every fact that was committed after the projection's seq, up to the head.

    A caller who knows the head already, from claiming the thread, saves a read or two.
    """
    # The head is read first: a commit that lands in between is left for the next refresh.
    head = head or await store.head(projection.ref)
    if head.seq > projection.seq:
        await _read(store, projection, after=projection.seq, through=head.seq)
    projection.seq = head.seq
    if head.version != projection.version:
        # Somebody else's commit: its facts give the values, only its row the commitment.
        snapshot = await store.snapshot(projection.ref, head.version)
        if snapshot is None:
            raise StateUnreadable(f"Version {head.version} of this thread is missing.")
        _adopt_substate(projection, snapshot)


async def fill(store: ThreadJournalStore, projection: ThreadProjection, through: int) -> None:
    """Fold in the facts that others committed up to a seq (queue commits during a run)."""
    await _read(store, projection, after=projection.seq, through=through)
    projection.seq = through


async def adopt(
    store: ThreadJournalStore, projection: ThreadProjection, seqs: Iterable[int]
) -> None:
    """Make sure that the projection holds these inputs of open turns.

    A snapshot whose context was replaced starts behind the turns that were queued before it.
    """
    missing = {s for s in seqs if s not in projection.inputs and s not in projection.steering}
    if missing:
        found = await store.facts_at(projection.ref, missing)
        projection.adopt(found[seq] for seq in sorted(found))


async def _read(
    store: ThreadJournalStore, projection: ThreadProjection, *, after: int, through: int | None
) -> None:
    while True:
        page = await store.facts(
            projection.ref, after=after, limit=PAGE, types=PROJECTED_TYPES, through=through
        )
        if page:
            known = await resolve(store, projection, page)
            for fact in page:
                projection.apply(fact, known)
            after = page[-1].seq
        if len(page) < PAGE:
            return


async def resolve(
    store: ThreadJournalStore, projection: ThreadProjection, facts: Sequence[Fact]
) -> Mapping[int, Fact]:
    """The facts themselves and every earlier fact that they refer to, by seq."""
    known = {**projection.inputs, **projection.steering, **{fact.seq: fact for fact in facts}}
    wanted = set(_references(facts)) - known.keys()
    while wanted:
        found = await store.facts_at(projection.ref, wanted)
        if missing := wanted - found.keys():
            raise StateUnreadable(f"The journal refers to missing facts: {sorted(missing)[:5]}.")
        known.update(found)
        wanted = set(_references(list(found.values()))) - known.keys()
    return known


def _references(facts: Iterable[Fact]) -> Iterable[int]:
    for fact in facts:
        if fact.type == FactType.MESSAGE_USER:
            source = input_seq(fact)
            if source is not None:
                yield source
        elif fact.type == FactType.CONTEXT_REPLACED:
            for entry in fact.payload["items"]:
                yield from entry_seqs(entry)
