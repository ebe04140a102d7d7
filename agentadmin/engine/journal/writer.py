"""The one who writes a thread: keeps the working state and commits what changed in it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.base import (
    Batch,
    CommitKind,
    Committed,
    Lease,
    Release,
    RowAction,
    SnapshotDraft,
    ThreadJournalStore,
    ThreadRef,
)
from agentadmin.engine.journal.changes import (
    ContextChange,
    compress,
    context_change,
    item_fact,
    substate_facts,
)
from agentadmin.engine.journal.facts import (
    SALT_BYTES,
    FactType,
    NewFact,
    SealedFact,
    seal_all,
)
from agentadmin.engine.journal.loading import fill, load
from agentadmin.engine.journal.plan import Planned, Substate, draft, plan_items
from agentadmin.engine.state import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentadmin.engine.journal.projection import Item, ThreadProjection
    from agentadmin.engine.messages import Msg
    from agentadmin.engine.state.agent_state import AgentState


@dataclass(frozen=True, slots=True)
class Input:
    """Where an input message stands: the seq of its `turn/start` (None: this very batch)."""

    seq: int | None
    index: int


class JournalWriter:
    """Commits changes of one thread's state, under a lease (a run) or without one (an edit).

    The loop changes `state`; `flush` finds out what changed since the last commit. Errors of the
    journal (Fenced, StaleVersion, ThreadBusy) leave `state` as it is and the projection unmoved.
    """

    def __init__(
        self,
        store: ThreadJournalStore,
        projection: ThreadProjection,
        *,
        lease: Lease | None,
        actor: str = "system",
    ) -> None:
        self.store = store
        self.projection = projection
        self.lease = lease
        self.actor = actor
        self.state: AgentState = projection.state()
        self.turn_id: str | None = None
        self.run_id: str | None = None
        self.step_id: str | None = None
        self.replace_reason = "edit"
        self.baseline: dict[str, Any] = {"source": "new", "count": 0, "document": None}
        self._inputs: dict[int, tuple[Msg, Input]] = {}
        self._left: Sequence[Item] = ()

    @classmethod
    async def open(
        cls,
        store: ThreadJournalStore,
        ref: ThreadRef,
        *,
        lease: Lease | None,
        actor: str = "system",
    ) -> JournalWriter:
        """A writer on the thread's newest state."""
        return cls(store, await load(store, ref), lease=lease, actor=actor)

    @property
    def ref(self) -> ThreadRef:
        """The thread that is written."""
        return self.projection.ref

    def bind_inputs(self, messages: Iterable[Msg], seq: int | None) -> None:
        """Say which `turn/start` holds these messages, so they are not written twice.

        `seq` None means the `turn/start` that goes out in the same batch. A seq must be one of
        `projection.inputs` or `projection.steering`.
        """
        for index, msg in enumerate(messages):
            self._inputs[id(msg.raw)] = (msg, Input(seq, index))

    def refer_to(self, items: Sequence[Item]) -> None:
        """Say which facts hold messages that come back, so that the next commit names only them."""
        self._left = items

    def fact(self, type_: str, payload: dict[str, Any], *, required: bool = True) -> NewFact:
        """A fact of the current turn, run and step."""
        return NewFact(type_, payload, self.turn_id, self.run_id, self.step_id, required)

    async def flush(
        self,
        facts: Sequence[NewFact] = (),
        *,
        before: Sequence[NewFact] = (),
        reason: str,
        release: Release = Release.NEVER,
        rows: Sequence[RowAction] = (),
    ) -> Committed | None:
        """Commit `before`, then what changed in the state, then `facts`, as one batch.

        Returns None when there is nothing to write and no lease to give back.
        """
        items = list(self.projection.items.values())
        change = context_change(items, self.state.context, self._left)
        substate = self._substate()
        changes = self._change_facts(change, substate, before)
        if not (before or changes or facts or rows) and release is Release.NEVER:
            return None
        sealed = seal_all([*before, *changes, *facts])
        planned = plan_items(self.projection, sealed, dict(change.puts), self._left)
        snapshot = (
            draft(self.projection, planned, sealed, substate, reason=reason, actor=self.actor)
            if changes
            else None
        )
        committed = await self.store.commit(self.ref, self._batch(sealed, snapshot, release), rows)
        await self._moved(committed, planned, substate)
        self._left = ()
        return committed

    def _batch(
        self, sealed: Sequence[SealedFact], snapshot: SnapshotDraft | None, release: Release
    ) -> Batch:
        return Batch(
            kind=CommitKind.RUN if self.lease else CommitKind.EDIT,
            facts=sealed,
            snapshot=snapshot,
            lease=self.lease,
            expected_version=self.projection.version,
            release=release,
        )

    def _substate(self) -> Substate:
        value = self.state.substates()
        if value == self.projection.substate and self.projection.substate_commit:
            return Substate(value, None, b"", self.projection.substate_commit)
        text = codec.dumps(value)
        salt = secrets.token_bytes(SALT_BYTES)
        return Substate(value, text, salt, bytes.fromhex(codec.commit_of(salt, text)))

    def _change_facts(
        self, change: ContextChange, substate: Substate, before: Sequence[NewFact]
    ) -> list[NewFact]:
        facts = list(self._substate_facts(substate))
        if change.replaced is not None:
            payload = {"reason": self.replace_reason, "items": compress(change.replaced)}
            facts.append(NewFact(FactType.CONTEXT_REPLACED, payload))
        start = next((i for i, f in enumerate(before) if f.type == FactType.TURN_START), None)
        for key, msg in change.puts:
            position = len(before) + len(facts)
            facts.append(item_fact(key, msg, self._reference(msg, start, position)))
        about = (self.turn_id, self.run_id, self.step_id)
        if about == (None, None, None):
            return facts
        turn_id, run_id, step_id = about
        return [replace(f, turn_id=turn_id, run_id=run_id, step_id=step_id) for f in facts]

    def _substate_facts(self, substate: Substate) -> Iterable[NewFact]:
        if substate.text is None:
            return ()
        if not self.projection.substate:
            # A thread's first state is told once and whole, not as a change of nothing.
            return (NewFact(FactType.BASELINE, {"substate": substate.value, **self.baseline}),)
        return substate_facts(self.projection.substate, substate.value)

    def _reference(self, msg: Msg, start: int | None, position: int) -> dict[str, Any] | None:
        bound = self._inputs.get(id(msg.raw))
        if bound is None:
            return None
        source = bound[1]
        if source.seq is not None:
            return {"seq": source.seq, "index": source.index}
        return None if start is None else {"back": position - start, "index": source.index}

    async def _moved(
        self,
        committed: Committed,
        planned: Planned,
        substate: Substate,
    ) -> None:
        """Bring the projection to where the commit left the thread."""
        projection = self.projection
        if committed.first_seq > projection.seq + 1:
            # Queue commits of others went in between; they never touch items or substate.
            await fill(self.store, projection, committed.first_seq - 1)
        planned.settle(committed.first_seq)
        projection.advance(committed.facts, planned.items)
        projection.version = committed.version
        projection.substate = substate.value
        projection.substate_commit = substate.commit
