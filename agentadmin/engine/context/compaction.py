"""Compaction: what a summary replaces, what stays, and the request that asks a model for it.

The request carries text only: calls and results are told in words, so that any provider takes it
without knowing the tools. Nothing is changed before the summary is there (spec §7, Decision 6).
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentadmin.engine.context.request import SUMMARY_KIND, transient
from agentadmin.engine.context.tokens import estimate
from agentadmin.engine.errors import ModelError
from agentadmin.engine.messages import (
    Block,
    Msg,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallState,
    ToolResultBlock,
    ToolUseBlock,
    system_message,
)
from agentadmin.engine.models.base import ModelRequest, Purpose, TextChunk
from agentadmin.engine.state import codec
from agentadmin.engine.state.calls import open_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.models.base import ChatModel
    from agentadmin.engine.state.agent_state import AgentState

RESERVED = 20_000
LEAST_KEPT, MOST_KEPT = 2_000, 8_000
TOLD_CHARS = 2_000
PATIENCE = 120.0
"""Seconds that one attempt at a summary may take."""
UNTOUCHED = frozenset({ToolCallState.PENDING.value, ToolCallState.ASKING.value})

_PROMPT = (
    "You condense a conversation between a user and an agent so that the agent can go on without "
    "it. Keep what was asked, what was decided, what was done with which result, names, numbers, "
    "paths and identifiers, and what is still open. Leave out greetings and repetition."
)
_ASK = "Write the summary of the conversation above now, as plain text and nothing else."


@dataclass(frozen=True, slots=True)
class Compaction:
    """The messages before `cut` go into the summary; those from it on stay as they are."""

    cut: int
    messages: tuple[Msg, ...]

    @property
    def head(self) -> tuple[Msg, ...]:
        """What the summary replaces."""
        return self.messages[: self.cut]

    def apply(self, state: AgentState, summary: str) -> None:
        """Set the summary and trim the context that it was planned on."""
        state.summary = summary
        state.set_context(state.context[self.cut :])


def keep_budget(window: int) -> int:
    """How many tokens of the newest messages stay where a model's window is known."""
    return min(max((window - RESERVED) // 4, LEAST_KEPT), MOST_KEPT)


def plan_by_tokens(state: AgentState, budget: int) -> Compaction:
    """Keep the largest tail within the budget, at least one message."""
    messages = state.context
    kept, total = 0, 0
    for message in reversed(messages):
        total += estimate(message)
        if kept and total > budget:
            break
        kept += 1
    return plan_by_count(state, kept)


def plan_by_count(state: AgentState, keep: int) -> Compaction:
    """Keep the newest messages; a cut never parts a call from its result."""
    messages = state.context
    cut = min(max(len(messages) - keep, 0), len(messages))
    waiting = [call.message_index for call in open_calls(state) if call.state in UNTOUCHED]
    cut = min([cut, *waiting])
    return Compaction(_between_pairs(messages, cut), messages)


def _between_pairs(messages: Sequence[Msg], cut: int) -> int:
    """Back to the call whose result would stay alone; past results whose call nobody knows."""
    issued: dict[str, int] = {}
    for index, message in enumerate(messages[:cut]):
        issued |= {block.id: index for block in message.blocks(ToolUseBlock)}
    back = cut
    for message in messages[cut:]:
        for block in message.blocks(ToolResultBlock):
            back = min(back, issued.get(block.id, back))
    if back < cut:
        return _between_pairs(messages, back)
    while 0 < cut < len(messages) and messages[cut].role == Role.TOOL:
        cut += 1
    return cut


async def summarise(model: ChatModel, head: Sequence[Msg], earlier: str) -> str:
    """The model's summary. Raises ModelError; an empty answer is a failure, too."""
    front = [transient(f"The summary so far:\n{earlier}", SUMMARY_KIND)] if earlier else []
    messages = [
        system_message(_PROMPT),
        *front,
        *map(told, head),
        transient(_ASK, SUMMARY_KIND),
    ]
    for attempt in range(model.retry.retries + 1):
        try:
            return await _asked(model, ModelRequest(messages, (), Purpose.SUMMARY, attempt=attempt))
        except ModelError as error:
            if not error.retryable or attempt == model.retry.retries:
                raise
        await asyncio.sleep(model.retry.delay(attempt))
    raise AssertionError("every attempt returns or raises")


async def _asked(model: ChatModel, request: ModelRequest) -> str:
    parts: list[str] = []
    try:
        async with asyncio.timeout(PATIENCE), aclosing(model.stream(request)) as stream:
            async for chunk in stream:
                if isinstance(chunk, TextChunk):
                    parts.append(chunk.text)
    except TimeoutError as error:
        raise ModelError(
            f"The model gave no summary in {PATIENCE:g} s.", retryable=False
        ) from error
    text = "".join(parts).strip()
    if not text:
        raise ModelError("The model's summary is empty.", retryable=False)
    return text


def told(message: Msg) -> Msg:
    """The message in words, from the user or the agent."""
    texts = [text for block in message.content if (text := _text(block))]
    role = Role.USER if message.role in (Role.TOOL, Role.SYSTEM, None) else message.role
    content = [TextBlock.make("\n".join(texts) or "(nothing)").raw]
    kept = {name: message.raw.get(name) for name in ("id", "name", "timestamp")}
    return Msg({**kept, "role": role, "content": content, "metadata": _synthetic(message)})


def _synthetic(message: Msg) -> dict[str, object]:
    """A message that no person wrote stays marked as such."""
    return dict(message.metadata) if message.synthetic else {}


def _text(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ThinkingBlock):
        return ""
    if isinstance(block, ToolUseBlock):
        return f"[called the tool {block.name} with {_short(codec.dumps(block.input))}]"
    if isinstance(block, ToolResultBlock):
        return f"[{block.name} gave, {block.state}: {_short(block.text)}]"
    return f"[{block.type}]"


def _short(text: str) -> str:
    """Head and tail of what is long."""
    if len(text) <= TOLD_CHARS:
        return text
    half = TOLD_CHARS // 2
    return f"{text[:half]}...({len(text) - TOLD_CHARS} chars left out)...{text[-half:]}"
