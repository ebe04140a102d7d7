"""Ending or pausing a turn that no run works on, with the worker's lease or as an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import (
    OUTCOME,
    UNKNOWN,
    interrupted_result,
    last_assistant,
    open_calls,
    result_message,
)
from agentadmin.engine.journal.base import Release
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import ToolResultState
from runs_app.states import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.journal.base import Committed
    from agentadmin.engine.journal.facts import NewFact
    from agentadmin.engine.journal.writer import JournalWriter


async def cancel_parked(
    writer: JournalWriter,
    turn_id: str,
    *,
    by: dict[str, Any],
    reason: str,
    release: Release = Release.NEVER,
) -> Committed | None:
    """Cancel a turn that waits or is paused; unknown outcomes are recorded as unknown."""
    writer.turn_id, writer.run_id, writer.step_id = turn_id, None, None
    _answer_open_calls(writer)
    withdrawn = _withdrawals(writer, turn_id, by, reason)
    cancelled = writer.fact(FactType.TURN_CANCELLED, {"by": by, "reason": reason})
    return await writer.flush([*withdrawn, cancelled], reason="cancelled", release=release)


async def pause_parked(
    writer: JournalWriter, turn_id: str, *, by: dict[str, Any], reason: str
) -> Committed | None:
    """Pause a turn whose run parked it before it heard; what it waits for stays open."""
    writer.turn_id, writer.run_id, writer.step_id = turn_id, None, None
    paused = writer.fact(FactType.TURN_PAUSED, {"by": by, "reason": reason or None})
    return await writer.flush([paused], reason="pause")


def _answer_open_calls(writer: JournalWriter) -> None:
    """A context in which every call has its one result goes on with any provider."""
    context = writer.state.context_mutable()
    uncertain = writer.projection.uncertain
    index = last_assistant(context)
    name = (context[index].name or "") if index is not None else ""
    for call in open_calls(context):
        if call.id not in uncertain:
            context.append(interrupted_result(call, name=name))
            continue
        text = UNKNOWN.format(name=call.name)
        state, about = ToolResultState.INTERRUPTED, {OUTCOME: "unknown"}
        context.append(result_message(call, text, state, name=name, **about))


def _withdrawals(
    writer: JournalWriter, turn_id: str, by: dict[str, Any], reason: str
) -> Sequence[NewFact]:
    return [
        writer.fact(
            FactType.INTERACTION_RESOLVED,
            {
                "interaction_id": asked.id,
                "decision": Decision.CANCELLED,
                "by": by,
                "reason": reason,
                "answer": None,
                "rules": [],
                "input": None,
            },
        )
        for asked in writer.projection.pending
        if asked.turn_id == turn_id
    ]
