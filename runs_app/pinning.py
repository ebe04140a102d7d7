"""Which version of its agent a turn is run with: the one it began with, else the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.state import codec
from runs_app.models import Run
from runs_app.profiles import PROFILES

if TYPE_CHECKING:
    from runs_app.models import Turn
    from runs_app.profiles import Profile


def profile_for(turn: Turn, agent_id: str) -> Profile | None:
    """The agent for the next run of a turn; None when nobody has defined it."""
    return PROFILES.for_run(agent_id, begun_with(turn, agent_id))


def begun_with(turn: Turn, agent_id: str) -> int | None:
    """The version that the turn's first run has recorded; None before it has begun."""
    if not turn.attempts:
        return None
    runs = Run.objects.filter(thread_id=turn.thread_id, turn_id=turn.id).order_by("start_seq")
    text = runs.values_list("agent", flat=True).first()
    agent = codec.loads(text) if text else None
    if not isinstance(agent, dict) or agent.get("id") != agent_id:
        return None
    version = agent.get("version")
    return version if isinstance(version, int) else None
