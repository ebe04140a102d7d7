"""What a state holds that no version of AgentScope we know can read; it is kept as it came."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from agentadmin.engine.messages import Role, ToolCallState, ToolResultState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentadmin.engine.messages.blocks import Raw
    from agentadmin.engine.state.agent_state import AgentState

MOST: Final = 20
"""How many are told; a file from the future would be full of them."""

_ROLES = frozenset(word for role in Role for word in (role.value, role.value.lower()))
_BLOCKS = frozenset(
    {
        *("text", "thinking", "image", "audio", "video", "data", "hint"),
        *("tool_use", "tool_call", "tool_result"),
    }
)
_STATES = {
    "tool_use": frozenset(ToolCallState),
    "tool_call": frozenset(ToolCallState),
    "tool_result": frozenset(ToolResultState),
}
_REASONS = frozenset({"completed", "interrupted", "exceed_max_iters", "error"})


@dataclass(frozen=True, slots=True)
class Oddity:
    """One word that is unknown, and where it stands."""

    path: str
    word: str


def oddities(state: AgentState) -> list[Oddity]:
    """The first unknown roles, block types, states of calls and results, and finish reasons."""
    return list(islice(_found(state), MOST))


def _found(state: AgentState) -> Iterator[Oddity]:
    for index, message in enumerate(state.context):
        raw, path = message.raw, f"context[{index}]"
        yield from _unknown(raw, "role", _ROLES, path)
        yield from _unknown(raw, "finished_reason", _REASONS, path)
        for place, block in enumerate(raw.get("content") or ()):
            if block is not None:
                yield from _in_block(block, f"{path}.content[{place}]")


def _in_block(block: Raw, path: str) -> Iterator[Oddity]:
    yield from _unknown(block, "type", _BLOCKS, path)
    states = _STATES.get(block["type"])
    if states is not None:
        yield from _unknown(block, "state", states, path)


def _unknown(raw: Raw, field: str, words: frozenset[Any], path: str) -> Iterator[Oddity]:
    word = raw.get(field)
    if isinstance(word, str) and word not in words:
        yield Oddity(f"{path}.{field}", word[:80])
