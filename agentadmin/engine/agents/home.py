"""StateHome: where an agent's threads live between calls; a journal, or a state store."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agentadmin.engine.errors import InvalidInput, MissingReason
from agentadmin.engine.state.agent_state import AgentState

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agentadmin.engine.agents.interrupt import InterruptControl
    from agentadmin.engine.agents.log import StateLog
    from agentadmin.engine.agents.spec import AgentSpec
    from agentadmin.engine.identity import ThreadKey

type Mutation = Callable[[AgentState], AgentState | None]

MAX_REASON = 2000


class StateHome(Protocol):
    """What an agent needs of its home, besides the log of a running call."""

    def open(
        self, key: ThreadKey, run_id: str, control: InterruptControl, *, supplied: bool
    ) -> AbstractAsyncContextManager[StateLog]:
        """The thread for one run, nobody else writing it meanwhile.

        Raises RunIdReused for a `supplied` run id that the thread has seen.
        """

    async def read(self, key: ThreadKey) -> AgentState | None:
        """A detached copy of the state, or None for an unknown thread."""

    async def replace(self, key: ThreadKey, state: AgentState, reason: str) -> None:
        """Save a state that was read before. Raises StaleVersion when it has moved on."""

    async def update(self, key: ThreadKey, reason: str, mutation: Mutation) -> AgentState:
        """Apply a change atomically and give the new state."""

    async def reconcile(
        self, key: ThreadKey, results: Mapping[str, Any], reason: str
    ) -> AgentState:
        """Say what became of calls whose outcome nobody knows."""

    async def close(self) -> None:
        """Give back what is held."""


def check_reason(reason: str) -> str:
    """Every change from outside says why."""
    if not reason.strip():
        raise MissingReason()
    if len(reason) > MAX_REASON:
        raise InvalidInput(f"has more than {MAX_REASON} characters", path="reason")
    return reason


def mutated(before: AgentState, mutation: Mutation) -> AgentState:
    """The state after a mutation that may change it in place or give another one."""
    after = mutation(before)
    return before if after is None else after


def fresh_state(spec: AgentSpec, key: ThreadKey) -> AgentState:
    """What a thread starts with."""
    return AgentState.new(key.session_id, key.user_id, key.thread_id, spec.permission_context)


class Seen:
    """Remembers at which version a state object was read, as long as somebody holds it."""

    def __init__(self) -> None:
        self._versions: dict[int, tuple[weakref.ref[AgentState], int]] = {}

    def note(self, state: AgentState, version: int) -> AgentState:
        """Remember the version of this very object."""
        number = id(state)

        def forget(_: weakref.ref[AgentState]) -> None:
            self._versions.pop(number, None)

        self._versions[number] = (weakref.ref(state, forget), version)
        return state

    def version(self, state: AgentState) -> int:
        """The version it was read at; 0 for one that was made elsewhere."""
        found = self._versions.get(id(state))
        return found[1] if found and found[0]() is state else 0
