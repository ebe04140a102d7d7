"""JournalHome: threads of a ThreadJournalStore, claimed for each call (spec §8)."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.home import Mutation, Seen, check_reason, fresh_state, mutated
from agentadmin.engine.agents.interrupt import InterruptControl, InterruptSource
from agentadmin.engine.agents.log import JournalLog, StateLog
from agentadmin.engine.agents.reconcile import reconcile_outcomes
from agentadmin.engine.errors import (
    Fenced,
    InteractionPending,
    InvalidInput,
    NeedsReconcile,
    NotFound,
    RunIdReused,
    StaleVersion,
)
from agentadmin.engine.identity import ThreadKey, new_id
from agentadmin.engine.journal.loading import load, refresh
from agentadmin.engine.journal.writer import JournalWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.journal.base import Lease, ThreadJournalStore, ThreadRef
    from agentadmin.engine.journal.projection import ThreadProjection
    from agentadmin.engine.state.agent_state import AgentState

logger = logging.getLogger(__name__)

LEASE_SECONDS = 12.0
RENEW_SECONDS = 4.0
KEPT_THREADS = 256


class JournalHome:
    """Keeps recently used projections, so that a call reads only what it does not know."""

    def __init__(self, store: ThreadJournalStore, spec: AgentSpec) -> None:
        self._store = store
        self._spec = spec
        self._seen = Seen()
        self._renew_every = RENEW_SECONDS
        self._recent: OrderedDict[ThreadKey, ThreadProjection] = OrderedDict()

    @asynccontextmanager
    async def open(
        self, key: ThreadKey, run_id: str, control: InterruptControl, *, supplied: bool
    ) -> AsyncIterator[StateLog]:
        """Claim, load, and give the lease back at the end however the call went."""
        ref = await self._ref(key)
        if supplied and await self._store.has_run(ref, run_id):
            raise RunIdReused()
        try:
            lease = await self._store.claim(ref, run_id, LEASE_SECONDS)
        except NotFound:
            self._recent.pop(key, None)
            raise
        keeper = asyncio.create_task(self._keep(ref, lease, control))
        log: JournalLog | None = None
        try:
            projection = await self._projection(ref, lease)
            log = JournalLog(
                JournalWriter(self._store, projection, lease=lease, actor=self._spec.agent_id)
            )
            yield log
            self._remember(projection)
        finally:
            keeper.cancel()
            if log is None or not log.released:
                await self._store.release(ref, lease)

    async def _keep(self, ref: ThreadRef, lease: Lease, control: InterruptControl) -> None:
        """Renew the lease; a lost one stops the run, which may write nothing any more."""
        while True:
            await asyncio.sleep(self._renew_every)
            try:
                await self._store.renew(ref, lease, LEASE_SECONDS)
            except Fenced:
                control.trigger(InterruptSource.FENCED)
                return
            except Exception:
                # The next try may succeed in time; if not, the commit will be fenced.
                logger.exception("the lease of thread %s could not be renewed", ref.id)

    async def _ref(self, key: ThreadKey) -> ThreadRef:
        known = self._recent.get(key)
        return known.ref if known is not None else await self._store.ensure(key)

    async def _projection(self, ref: ThreadRef, lease: Lease) -> ThreadProjection:
        """What is kept, brought up to where the thread stood when it was claimed."""
        known = self._recent.pop(ref.key, None)
        head = lease.head or await self._store.head(ref)
        # Only a snapshot tells what a state that others have changed is committed to.
        if known is None or known.version != head.version:
            return await load(self._store, ref)
        await refresh(self._store, known, head)
        return known

    def _remember(self, projection: ThreadProjection) -> None:
        """Only after a call that ended well: a projection in doubt is read anew."""
        self._recent[projection.ref.key] = projection
        while len(self._recent) > KEPT_THREADS:
            self._recent.popitem(last=False)

    async def read(self, key: ThreadKey) -> AgentState | None:
        """A detached state; reading claims, repairs and creates nothing."""
        ref = await self._store.find(key)
        if ref is None:
            return None
        projection = await load(self._store, ref)
        state = projection.state() if projection.substate else fresh_state(self._spec, key)
        return self._seen.note(state, projection.version)

    async def replace(self, key: ThreadKey, state: AgentState, reason: str) -> None:
        """Accepted only while nothing was committed since the state was read."""
        writer = await self._writer(key)
        current = writer.projection.version
        if self._seen.version(state) != current:
            raise StaleVersion(current)
        await self._commit(writer, state.copy(), reason)
        self._seen.note(state, writer.projection.version)

    async def update(self, key: ThreadKey, reason: str, mutation: Mutation) -> AgentState:
        """One compare-and-swap commit. Raises ThreadBusy while a run holds the thread."""
        writer = await self._writer(key)
        await self._commit(writer, mutated(writer.state.copy(), mutation), reason)
        return self._seen.note(writer.state.copy(), writer.projection.version)

    async def _writer(self, key: ThreadKey) -> JournalWriter:
        ref = await self._store.ensure(key)
        writer = await JournalWriter.open(self._store, ref, lease=None, actor=self._spec.agent_id)
        if not writer.projection.substate:
            writer.state = fresh_state(self._spec, key)
        return writer

    async def _commit(self, writer: JournalWriter, state: AgentState, reason: str) -> None:
        _check_edit(writer.projection, writer.state, state)
        writer.state = state
        await writer.flush(reason=check_reason(reason))

    async def reconcile(
        self, key: ThreadKey, results: Mapping[str, Any], reason: str
    ) -> AgentState:
        """Under a lease of its own, so that no run starts in the middle."""
        ref = await self._store.find(key)
        if ref is None:
            raise NotFound()
        lease = await self._store.claim(ref, f"reconcile:{new_id()}", LEASE_SECONDS)
        try:
            writer = await JournalWriter.open(self._store, ref, lease=lease)
            await reconcile_outcomes(writer, results, check_reason(reason), name=self._spec.name)
            return self._seen.note(writer.state.copy(), writer.projection.version)
        finally:
            await self._store.release(ref, lease)

    async def close(self) -> None:
        """Forget what was kept; the store belongs to the application."""
        self._recent.clear()


def _check_edit(projection: ThreadProjection, before: AgentState, after: AgentState) -> None:
    """What no edit from outside may do (spec §8.7)."""
    if projection.uncertain:
        raise NeedsReconcile(list(projection.uncertain))
    if _identity(before) != _identity(after):
        raise InvalidInput("the identity of a state cannot be changed", path="session_id")
    if projection.pending and before.context != after.context:
        raise InteractionPending([asked.id for asked in projection.pending])


def _identity(state: AgentState) -> tuple[str, str | None, str]:
    return state.session_id, state.user_id, state.thread_id
