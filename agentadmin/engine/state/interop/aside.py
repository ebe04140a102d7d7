"""What a state keeps of a document of AgentScope for Python that has no counterpart in ours.

It stands among the state's unknown fields, so that it lives through every edit, fork and export of
the state, and goes back into a document of the same format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.messages import Block, text_of
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
    """What is kept, empty for a state from elsewhere; parts of another shape are nobody's."""
    kept = state.extra.get(ASIDE)
    if not isinstance(kept, dict):
        return {}
    return {name: part for name, part in kept.items() if name == LAYOUT or isinstance(part, dict)}


def summary_blocks(state: AgentState) -> list[Any] | None:
    """The summary as the blocks that it came as; None once the summary says something else."""
    raws = state.extra.get(SUMMARY_BLOCKS)
    if not isinstance(raws, list):
        return None
    try:
        blocks = [Block.from_dict(raw) for raw in raws]
    except DecodeError:
        return None
    return raws if text_of(blocks) == state.summary else None


def meaningful(value: Any) -> bool:
    """Whether losing a value would lose anything."""
    if isinstance(value, dict):
        return any(each not in (None, "", [], {}) for each in value.values())
    return value not in (None, "", [])
