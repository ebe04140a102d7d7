"""Reconciling: a person says what became of calls whose outcome the journal does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.answers import given_result
from agentadmin.engine.agents.calls import open_calls
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.journal.base import Committed, Release, RowAction
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import ToolResultBlock, tool_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.engine.journal.writer import JournalWriter


async def reconcile_outcomes(
    writer: JournalWriter,
    results: Mapping[str, Any],
    reason: str,
    *,
    name: str,
    by: dict[str, Any] | None = None,
    release: Release = Release.NEVER,
    rows: tuple[RowAction, ...] = (),
) -> Committed | None:
    """Commit a result for every uncertain call. Raises InvalidInput unless exactly those are named.

    A result is text, any JSON, or `{output, state}`; `state` is one of the result states.
    """
    uncertain = writer.projection.uncertain
    _check_cover(set(uncertain), set(results))
    calls = {call.id: call for call in open_calls(writer.state.context_mutable())}
    run_of = {dispatch.turn_id for dispatch in uncertain.values()}
    writer.turn_id = next(iter(run_of), None)
    for call_id in [*(id_ for id_ in calls if id_ in uncertain)]:
        state, output = given_result(results[call_id], f"results.{call_id}")
        block = ToolResultBlock.make(
            id=call_id, name=calls[call_id].name, output=output, state=state
        )
        writer.state.context_mutable().append(tool_message(block, name=name))
    repairs = [{"kind": "reconciled", "call_id": id_, "note": reason} for id_ in results]
    payload = {"repairs": repairs, "interrupted_run": None, "by": by}
    fact = NewFact(FactType.RECOVERY_APPLIED, payload, writer.turn_id)
    return await writer.flush([fact], reason="reconcile", release=release, rows=rows)


def _check_cover(uncertain: set[str], named: set[str]) -> None:
    if not uncertain:
        raise InvalidInput("there is no call with an unknown outcome", path="results")
    if missing := sorted(uncertain - named):
        raise InvalidInput(f"has no outcome for {', '.join(missing)}", path="results")
    if strange := sorted(named - uncertain):
        raise InvalidInput(f"names {', '.join(strange)}, whose outcome is known", path="results")
