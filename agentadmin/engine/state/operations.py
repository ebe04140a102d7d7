"""What an operation of `updateAgentState` is; `mutations.OPERATIONS` lists them all.

To add one: write a function that changes the copy it is given, wrap it in an `OperationSpec`, and
put that into `mutations.OPERATIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError, InvalidOperation
from agentadmin.engine.state.reading import Reader
from agentadmin.engine.state.widening import widening

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState

    Change = Callable[[AgentState, Reader, datetime], None]
    Parts = Callable[[Mapping[str, Any]], frozenset[str]]
    Needs = Callable[[AgentState, AgentState], frozenset[str]]
    Words = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """One operation: what it needs, what it touches, and how it changes a state."""

    name: str
    permission: str
    substates: frozenset[str]
    """The wire names of the parts that it may change; `context` are the messages."""
    change: Change
    """Changes the copy that it is given."""
    fields: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    """Fields that are looked up before it is applied; a caller may not send them."""
    parts: Parts | None = None
    """The parts that one operation of this kind may change, where that depends on its fields."""
    needs: Needs | None = None
    """The permissions that the states before and after ask for, besides its own."""
    words: Words | None = None
    """What one operation is called where its name says too little."""

    def touches(self, operation: Mapping[str, Any]) -> frozenset[str]:
        """The parts that this operation may change."""
        return self.substates if self.parts is None else self.parts(operation)

    def needed(self, before: AgentState, after: AgentState) -> frozenset[str]:
        """The permissions that this change needs besides the operation's own."""
        return frozenset() if self.needs is None else self.needs(before, after)

    def called(self, operation: Mapping[str, Any]) -> str:
        """What facts and versions call it."""
        return self.name if self.words is None else self.words(operation)

    def check_sent(self, operation: Mapping[str, Any], index: int) -> None:
        """Refuse unknown fields, and those that only this program may write."""
        for field in operation:
            if field != "op" and field not in self.fields:
                raise InvalidOperation(f"{self.name} has no field {field}", index=index, path=field)

    def apply(self, state: AgentState, operation: dict[str, Any], now: datetime) -> AgentState:
        """Another state; the given one stays as it is."""
        for field in operation:
            if field != "op" and field not in self.fields | self.given:
                raise InvalidOperation(f"{self.name} has no field {field}", path=field)
        changed = state.copy()
        try:
            self.change(changed, Reader(operation), now)
        except DecodeError as error:
            raise InvalidOperation(error.detail, path=error.path) from error
        return changed

    def widens(self, state: AgentState, operation: dict[str, Any], now: datetime) -> bool:
        """Whether it would let calls pass that did not pass before."""
        after = self.apply(state, operation, now)
        return bool(widening(state.permission_context, after.permission_context))
