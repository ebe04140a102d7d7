"""The operation that replaces the older part of the working context by a summary.

The summary and the cut are looked up before: the agent's own model writes the one, and
`engine.context.compaction` plans the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.state.operations import OperationSpec

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Reader


def _compact(state: AgentState, operation: Reader, _now: datetime) -> None:
    cut = operation.integer("cut", 0)
    if not 0 < cut <= len(state.context):
        raise InvalidOperation("there is nothing to compact", path="op")
    state.summary = operation.required_text("summary")
    state.set_context(state.context[cut:])


COMPACT = OperationSpec(
    name="compact",
    permission="sessions:clear",
    substates=frozenset({"context", "summary"}),
    change=_compact,
    fields=frozenset({"keep_messages"}),
    given=frozenset({"summary", "cut"}),
)
