"""What one model request holds: system prompt, summary, working context, transient material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import InteractionPending, NeedsReconcile, StateUnreadable
from agentadmin.engine.messages import (
    Block,
    Msg,
    ToolCallState,
    ToolResultBlock,
    ToolUseBlock,
    system_message,
    user_message,
    wrap,
)
from agentadmin.engine.messages.vocabulary import REMINDER_KIND, SYNTHETIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentadmin.engine.state.agent_state import AgentState

SUMMARY_KIND = "summary"
EMPTY_KIND = "empty_response"
EMPTY_TEXT = (
    "<system-reminder>Your last answer was empty. Answer the user in plain text now."
    "</system-reminder>"
)
MAX_TRANSIENT_CHARS = 8 * 1024
TOOL_BLOCKS = frozenset({"tool_use", "tool_call", "tool_result"})


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """The messages as they leave, and the transient ones among them as they are recorded."""

    messages: list[Msg]
    transient: list[dict[str, Any]]


def build(state: AgentState, system_prompt: str, reminders: Sequence[Msg] = ()) -> BuiltRequest:
    """Raises InteractionPending, NeedsReconcile or StateUnreadable for an unfit context."""
    context: Sequence[Msg] = state.context_mutable()
    if repeated := check_pairs(context):
        context = with_unique_ids(context, repeated)
    front = [_summary(state.summary)] if state.summary else []
    head = [system_message(system_prompt)] if system_prompt.strip() else []
    return BuiltRequest(
        [*head, *front, *context, *reminders], [_record(m) for m in (*front, *reminders)]
    )


def _summary(text: str) -> Msg:
    """The compacted past, in front and never stored again as a message."""
    return transient(f"<conversation-summary>\n{text}\n</conversation-summary>", SUMMARY_KIND)


def empty_reminder() -> Msg:
    """Said to a model that answered nothing."""
    return transient(EMPTY_TEXT, EMPTY_KIND)


def transient(text: str, kind: str) -> Msg:
    """A synthetic user message that only the model sees."""
    return user_message(text, name="system", metadata={SYNTHETIC: True, REMINDER_KIND: kind})


def _record(message: Msg) -> dict[str, Any]:
    text = message.text
    cut = len(text) > MAX_TRANSIENT_CHARS
    record: dict[str, Any] = {
        "kind": message.metadata.get(REMINDER_KIND),
        "text": text[:MAX_TRANSIENT_CHARS],
    }
    return {**record, "chars": len(text)} if cut else record


def check_pairs(context: Iterable[Msg]) -> set[str]:
    """Every call has its result after it and every result its call.

    Returns the ids that several calls have: providers reuse them, other providers refuse that.
    It runs before every request, so it looks at raw blocks and wraps only those of tools.
    """
    open_: dict[str, list[ToolUseBlock]] = {}
    seen: set[str] = set()
    repeated: set[str] = set()
    for message in context:
        for raw in message.raw.get("content") or ():
            block = wrap(raw) if raw is not None and raw.get("type") in TOOL_BLOCKS else None
            if isinstance(block, ToolUseBlock):
                if block.id in seen:
                    repeated.add(block.id)
                seen.add(block.id)
                open_.setdefault(block.id, []).append(block)
            elif isinstance(block, ToolResultBlock):
                _answered(block, open_)
    _none_open(open_)
    return repeated


def is_sound(context: Iterable[Msg]) -> bool:
    """Whether there is certainly nothing to repair: the common case, told in one cheap pass."""
    open_: set[str] = set()
    for message in context:
        for raw in message.raw.get("content") or ():
            if raw is None or raw.get("type") not in TOOL_BLOCKS:
                continue
            call_id = raw.get("id")
            if raw["type"] != "tool_result":
                if call_id in open_ or raw.get("content") or isinstance(raw.get("input"), str):
                    return False
                open_.add(call_id)
            elif call_id not in open_ or ToolResultBlock(raw).suspended:
                return False
            else:
                open_.discard(call_id)
    return not open_


def with_unique_ids(context: Iterable[Msg], repeated: set[str]) -> list[Msg]:
    """Copies in which a reused call id is told apart; the stored messages keep theirs.

    The n-th result of an id answers the n-th call of it.
    """
    uses: dict[tuple[type[Block], str], int] = {}
    return [_renamed(message, repeated, uses) for message in context]


def _renamed(message: Msg, repeated: set[str], uses: dict[tuple[type[Block], str], int]) -> Msg:
    blocks = list(message.content)
    for index, block in enumerate(blocks):
        if not isinstance(block, ToolUseBlock | ToolResultBlock) or block.id not in repeated:
            continue
        key = (type(block), block.id)
        uses[key] = uses.get(key, 0) + 1
        if uses[key] > 1:
            blocks[index] = block.replace(id=f"{block.id}~{uses[key]}")
    return message.with_content(blocks)


def _answered(block: ToolResultBlock, open_: dict[str, list[ToolUseBlock]]) -> None:
    waiting = open_.get(block.id)
    if not waiting:
        raise StateUnreadable(f"The result {block.id} answers no open tool call.")
    del waiting[0]
    if block.suspended:
        raise NeedsReconcile([block.id])


def _none_open(open_: dict[str, list[ToolUseBlock]]) -> None:
    left = [call for calls in open_.values() for call in calls]
    asking = [call.id for call in left if call.state == ToolCallState.ASKING]
    if asking:
        raise InteractionPending(asking)
    if left:
        raise NeedsReconcile([call.id for call in left])
