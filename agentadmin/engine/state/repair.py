"""Repair: what a run mends in a context before it builds a request from it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from agentadmin.engine.messages import (
    Block,
    Msg,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
)
from agentadmin.engine.state.calls import OpenCall, close_calls, numbered_blocks, open_calls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agentadmin.engine.state.agent_state import AgentState

LOST_RESULT = "[ERROR] Previous tool execution failed or was interrupted. Tool: {name}"
CUT_ARGUMENTS = "[ERROR] The arguments of this call were cut off; it did not run. Tool: {name}"

_PARKED = (ToolCallState.ASKING, ToolCallState.SUBMITTED)


class RepairKind(StrEnum):
    """What was wrong."""

    ORPHAN_CALL = "orphan_call"
    DUPLICATE_RESULT = "duplicate_result"
    DUPLICATE_CALL = "duplicate_call"
    STRAY_RESULT = "stray_result"
    TRUNCATED_ARGUMENTS = "truncated_arguments"


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was mended."""

    kind: RepairKind
    call_id: str
    tool_name: str
    message_id: str | None
    note: str

    def to_dict(self) -> dict[str, str | None]:
        return {
            "kind": self.kind.value,
            "call_id": self.call_id,
            "tool_name": self.tool_name,
            "message_id": self.message_id,
            "note": self.note,
        }


@dataclass(slots=True)
class _Plan:
    """What to do with single blocks, by message and block index; None drops one."""

    changes: dict[tuple[int, int], Block | None] = field(default_factory=dict)
    repairs: list[Repair] = field(default_factory=list)


def repair(state: AgentState, uncertain: Collection[str]) -> tuple[AgentState, list[Repair]]:
    """A state whose calls and results pair up, and what was done to get there.

    Left alone: the calls in `uncertain`, which the caller settles itself (unknown outcomes, and
    those that a resumed turn still runs), and calls parked on an answer from outside.
    """
    plan = _Plan()
    _mend_arguments(state, plan)
    _drop_results(state, plan)
    _drop_copies(state, plan)
    mended = _applied(state, plan) if plan.changes else state
    cut = {each.call_id for each in plan.repairs if each.kind is RepairKind.TRUNCATED_ARGUMENTS}
    orphans = list(_orphans(mended, uncertain))
    if not orphans:
        return mended, plan.repairs
    plan.repairs += [
        Repair(RepairKind.ORPHAN_CALL, call.call_id, call.name, call.message_id, "had no result")
        for call in orphans
    ]
    answers = [(call, CUT_ARGUMENTS if call.call_id in cut else LOST_RESULT) for call in orphans]
    return close_calls(mended, answers, ToolResultState.ERROR), plan.repairs


def _mend_arguments(state: AgentState, plan: _Plan) -> None:
    for message_index, block_index, message, block in numbered_blocks(state.context):
        if not isinstance(block, ToolUseBlock) or not block.truncated:
            continue
        text = block.content or ""
        textual = isinstance(block.raw.get("input"), str)
        mended = block.replace(input="{}") if textual else block.replace(content="{}")
        plan.changes[message_index, block_index] = mended
        note = f"replaced by {{}}: {text[:200]}"
        plan.repairs.append(
            Repair(RepairKind.TRUNCATED_ARGUMENTS, block.id, block.name, message.id, note)
        )


def _drop_results(state: AgentState, plan: _Plan) -> None:
    """Keeps the first real result of each call; a placeholder yields to it."""
    waiting: defaultdict[str, int] = defaultdict(int)
    placeholders: dict[str, tuple[int, int, Msg, ToolResultBlock]] = {}
    answered: set[str] = set()
    for message_index, block_index, message, block in numbered_blocks(state.context):
        if isinstance(block, ToolUseBlock):
            waiting[block.id] += 1
        if not isinstance(block, ToolResultBlock):
            continue
        place = (message_index, block_index, message, block)
        if not waiting[block.id]:
            known = block.id in answered
            _drop(plan, place, RepairKind.DUPLICATE_RESULT if known else RepairKind.STRAY_RESULT)
            continue
        earlier = placeholders.pop(block.id, None)
        if earlier is not None:
            _drop(plan, earlier, RepairKind.DUPLICATE_RESULT)
        if block.suspended:
            placeholders[block.id] = place
        else:
            waiting[block.id] -= 1
            answered.add(block.id)


def _drop_copies(state: AgentState, plan: _Plan) -> None:
    """One message that asks twice for the same open call asks once: one answer closes one call."""
    seen: set[tuple[int, str]] = set()
    for call in open_calls(state):
        place = (call.message_index, call.call_id)
        if place in seen:
            plan.changes[call.message_index, call.block_index] = None
            note = "the same call stood there twice"
            plan.repairs.append(
                Repair(RepairKind.DUPLICATE_CALL, call.call_id, call.name, call.message_id, note)
            )
        seen.add(place)


def _drop(plan: _Plan, place: tuple[int, int, Msg, ToolResultBlock], kind: RepairKind) -> None:
    message_index, block_index, message, block = place
    plan.changes[message_index, block_index] = None
    note = "another result came first" if kind is RepairKind.DUPLICATE_RESULT else "had no call"
    plan.repairs.append(Repair(kind, block.id, block.name, message.id, note))


def _orphans(state: AgentState, uncertain: Collection[str]) -> Iterator[OpenCall]:
    calls = open_calls(state)
    parked = {call.message_index for call in calls if call.state in _PARKED}
    for call in calls:
        if call.call_id not in uncertain and call.message_index not in parked:
            yield call


def _applied(state: AgentState, plan: _Plan) -> AgentState:
    """The state with the plan's block changes; a message with nothing left goes."""
    mended = state.copy()
    touched = {message_index for message_index, _ in plan.changes}
    changed = (
        _changed(message, index, plan) if index in touched else message
        for index, message in enumerate(state.context)
    )
    mended.set_context(message for message in changed if message is not None)
    return mended


def _changed(message: Msg, index: int, plan: _Plan) -> Msg | None:
    blocks = [plan.changes.get((index, i), block) for i, block in enumerate(message.content)]
    kept = [block for block in blocks if block is not None]
    return message.with_content(kept) if kept else None
