"""Snapshot mode: one slot of an AgentStateStore, read at the start and saved at the end."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from agentadmin.engine.agents.home import Mutation, Seen, check_reason, fresh_state, mutated
from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.errors import AgentAdminError, InvalidInput, StaleVersion, StateUnreadable
from agentadmin.engine.journal.base import Release
from agentadmin.engine.journal.facts import Fact, FactType, NewFact
from agentadmin.engine.runtime_context import DEFAULT_NAMESPACE
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.stores.base import (
    ABSENT,
    CONFLICT,
    UNVERSIONED,
    AgentStateStore,
    ConflictPolicy,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from agentadmin.engine.agents.interrupt import InterruptControl
    from agentadmin.engine.agents.log import StateLog
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.identity import ThreadKey
    from agentadmin.engine.journal.projection import OpenDispatch, OpenInteraction
    from agentadmin.engine.messages import Msg

logger = logging.getLogger(__name__)
ATTEMPTS = 10


def entry_of(key: ThreadKey) -> str:
    """The store's key of a thread; another namespace never meets the default one's."""
    entry = key.state_entry("agent_state")
    other = key.namespace != DEFAULT_NAMESPACE
    return f"{quote(key.namespace, safe='')}//{entry}" if other else entry


class SnapshotLog:
    """A StateLog that forgets facts and saves the state once, with the run's end."""

    writer = None
    fresh: bool

    def __init__(
        self,
        home: SnapshotHome,
        key: ThreadKey,
        state: AgentState,
        version: int,
    ) -> None:
        self.key = key
        self.state = state
        self.fresh = version == ABSENT
        self.uncertain: Mapping[str, OpenDispatch] = {}
        self.interactions: Mapping[str, OpenInteraction] = {}
        self._home = home
        self._version = version
        self._loaded = tuple(state.context)
        self._ids: tuple[str | None, str | None, str | None] = (None, None, None)

    def put_state(self, state: AgentState) -> None:
        """Go on with another working state."""
        self.state = state

    def open_turn(self) -> str | None:
        """Turns leave no trace here."""
        return None

    def has_ended(self, start_seq: int) -> bool:
        """Turns leave no trace here."""
        return False

    def bind(self, turn_id: str, run_id: str) -> None:
        """Say whose facts follow."""
        self._ids = (turn_id, run_id, None)

    def at_step(self, step_id: str | None) -> None:
        """Say which step follows."""
        self._ids = (self._ids[0], self._ids[1], step_id)

    def bind_inputs(self, messages: Sequence[Msg], seq: int | None) -> None:
        """Messages are kept where they are."""

    def unread(self, turn_id: str) -> Sequence[Fact]:
        """Nobody can tell a call of a state store anything."""
        return ()

    async def catch_up(self) -> None:
        """Nobody else writes here."""

    def fact(self, type_: str, payload: dict[str, Any]) -> NewFact:
        """A fact that only tells `flush` where the run is."""
        return NewFact(type_, payload, *self._ids)

    def tokens(self) -> int:
        """Estimated tokens of the working context."""
        return sum(estimate(message) for message in self.state.context_mutable())

    async def flush(
        self,
        facts: Sequence[NewFact] = (),
        *,
        before: Sequence[NewFact] = (),
        reason: str,
        release: Release = Release.NEVER,
    ) -> bool:
        """Save when the run ends."""
        if any(fact.type == FactType.RUN_END for fact in facts):
            self._version = await self._home.save(self.key, self.state, self._version, self._loaded)
        return False

    async def last_fact(self, type_: str, turn_id: str, after: int) -> Fact | None:
        """Facts are not kept."""
        return None


class SnapshotHome:
    """Threads in a state store; a load that fails fails the call and leaves the bytes alone."""

    def __init__(self, store: AgentStateStore, spec: AgentSpec, policy: ConflictPolicy) -> None:
        self._store = store
        self._spec = spec
        self._policy = policy
        self._seen = Seen()
        self.conflicts = 0

    @asynccontextmanager
    async def open(
        self, key: ThreadKey, run_id: str, control: InterruptControl, *, supplied: bool
    ) -> AsyncIterator[StateLog]:
        """Read the slot anew for every call."""
        state, version = await self._load(key)
        yield SnapshotLog(self, key, state or fresh_state(self._spec, key), version)

    async def _load(self, key: ThreadKey) -> tuple[AgentState | None, int]:
        found = await self._store.get_versioned(key.user_id, key.session_id, entry_of(key))
        if found.value is None:
            return None, found.version
        try:
            return AgentState.from_dict(found.value), found.version
        except AgentAdminError as error:
            raise StateUnreadable(f"The stored state cannot be read: {error}") from error

    async def save(
        self, key: ThreadKey, state: AgentState, expected: int, loaded: Sequence[Msg]
    ) -> int:
        """Compare and swap; on a conflict as the policy says."""
        version = await self._swap(key, state, expected)
        if version != CONFLICT or expected == UNVERSIONED:
            return version
        self.conflicts += 1
        if state.shutdown_interrupted:
            logger.warning("state of %s was saved elsewhere; the shutdown leaves it", key)
            return expected
        if self._policy is ConflictPolicy.OVERWRITE:
            logger.warning("state of %s was saved elsewhere and is overwritten", key)
            return await self._swap(key, state, UNVERSIONED)
        latest, current = await self._load(key)
        if self._policy is ConflictPolicy.FAIL or latest is None:
            raise StaleVersion(current)
        merged = await self._swap(key, _merged(latest, state, loaded, current), current)
        if merged == CONFLICT:
            raise StaleVersion(current)
        return merged

    async def _swap(self, key: ThreadKey, state: AgentState, expected: int) -> int:
        return await self._store.save_if_version(
            key.user_id, key.session_id, entry_of(key), state.to_dict(), expected
        )

    async def read(self, key: ThreadKey) -> AgentState | None:
        """A detached copy."""
        state, version = await self._load(key)
        return None if state is None else self._seen.note(state, version)

    async def replace(self, key: ThreadKey, state: AgentState, reason: str) -> None:
        """Accepted only at the version that the state was read at."""
        check_reason(reason)
        version = await self._swap(key, state, self._seen.version(state))
        if version == CONFLICT:
            raise StaleVersion((await self._load(key))[1])
        self._seen.note(state, version)

    async def update(self, key: ThreadKey, reason: str, mutation: Mutation) -> AgentState:
        """Read, change, compare and swap; again when somebody else was faster."""
        check_reason(reason)
        version = ABSENT
        for _ in range(ATTEMPTS):
            state, version = await self._load(key)
            changed = mutated(state or fresh_state(self._spec, key), mutation)
            saved = await self._swap(key, changed, version)
            if saved != CONFLICT or version == UNVERSIONED:
                return self._seen.note(changed, saved)
        raise StaleVersion(version)

    async def reconcile(
        self, key: ThreadKey, results: Mapping[str, Any], reason: str
    ) -> AgentState:
        """Snapshots do not know which calls were started."""
        raise InvalidInput("there is no call with an unknown outcome", path="results")

    async def close(self) -> None:
        """The store belongs to the application."""


def _merged(
    latest: AgentState, mine: AgentState, loaded: Sequence[Msg], current: int
) -> AgentState:
    """Their state with this call's messages and permissions; never after a rewritten history."""
    context = mine.context_mutable()
    if list(context[: len(loaded)]) != list(loaded):
        raise StaleVersion(current)
    merged = latest.copy()
    merged.context_mutable().extend(context[len(loaded) :])
    merged.permission_context = mine.permission_context
    return merged
