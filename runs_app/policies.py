"""Who may do what to turns, runs and questions: always asked on the thread's own identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import READ
from agentadmin.audit.format import Target

if TYPE_CHECKING:
    from django.db.models import Q

    from agentadmin.access.actor import Actor
    from sessions_app.models import AgentThread

SUBMIT = "runs:submit"
STEER = "runs:steer"
INTERRUPT = "runs:interrupt"
CANCEL = "runs:cancel"
RECONCILE = "runs:reconcile"
RESPOND = "interactions:respond"
EDIT_RULES = "permissions:edit"
READ_AGENTS = "agents:read"
MANAGE_AGENTS = "agents:manage"


def target_within(thread: AgentThread, kind: str, id_: str) -> Target:
    """What the audit log calls a turn, a run or a question of a thread; reads its session."""
    return Target(
        kind=kind,
        id=id_,
        within=str(thread.session_id),
        agent_id=thread.agent_id,
        label=f"{thread.session} / {thread}",
    )


def agent_target(agent_id: str) -> Target:
    """What the audit log calls an agent."""
    return Target(kind="agent", id=agent_id, agent_id=agent_id, label=agent_id)


def visible_in_thread(actor: Actor) -> Q:
    """The rows of threads that exist for the actor, as a filter over rows with a `thread`."""
    return actor.visible(
        READ,
        namespace="thread__session__namespace",
        agent="thread__agent_id",
        user="thread__session__user_id",
    )
