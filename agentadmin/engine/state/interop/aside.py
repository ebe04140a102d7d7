"""What a state keeps of a document of AgentScope for Python that has no counterpart in ours.

It stands among the state's unknown fields, so that it lives through every edit, fork and export of
the state, and goes back into a document of the same format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentadmin.engine.state.agent_state import SUMMARY_BLOCKS

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.reading import Raw

ASIDE: Final = "agentscope_python"
"""The field: `reply_context` without its ids, `middle_context`, and the layout's generation."""

LAYOUT, OLD_LAYOUT = "layout", "2.0.2"
"""Until 2.0.2 the reply's ids stood at the top of the document."""

FIELDS: Final = (ASIDE, SUMMARY_BLOCKS)


def aside_of(state: AgentState) -> Raw:
    """What is kept, empty for a state from elsewhere."""
    kept = state.extra.get(ASIDE)
    return kept if isinstance(kept, dict) else {}


def summary_blocks(state: AgentState) -> list[Any] | None:
    """The summary as the blocks that it came as; gone once somebody writes another summary."""
    blocks = state.extra.get(SUMMARY_BLOCKS)
    return blocks if isinstance(blocks, list) else None


def meaningful(value: Any) -> bool:
    """Whether losing a value would lose anything."""
    if isinstance(value, dict):
        return any(each not in (None, "", [], {}) for each in value.values())
    return value not in (None, "", [])
