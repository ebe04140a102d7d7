"""Whether the agent that would run a call has its tool: an imported call may name another."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from runs_app.models import Turn
from runs_app.pinning import profile_for
from runs_app.profiles import PROFILES

if TYPE_CHECKING:
    from runs_app.models import Interaction
    from runs_app.profiles import Profile

log = logging.getLogger(__name__)


def lacks_tool(asked: Interaction) -> bool:
    """Whether an approval would only fail; of an agent that nobody knows here nothing is said."""
    agent_id = asked.thread.agent_id
    try:
        newest = PROFILES.get(agent_id)
        if newest is None or _has(newest, asked.tool):
            return False
        begun = _begun(asked, agent_id)
    except Exception:
        # Whatever is wrong with a definition, its page and its runs say so; a card only warns.
        log.exception("agent %s cannot be built", agent_id)
        return False
    return begun is None or not _has(begun, asked.tool)


def _has(profile: Profile, tool: str) -> bool:
    return tool in profile.agent.spec.toolkit


def _begun(asked: Interaction, agent_id: str) -> Profile | None:
    """The version that the turn goes on with, which may have what the newest has lost."""
    turn = Turn.objects.filter(id=asked.turn_id, thread_id=asked.thread_id).first()
    return None if turn is None else profile_for(turn, agent_id)
