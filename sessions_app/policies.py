"""Who may do what to a session or thread, asked on the row's own identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.access.actor import READ, Actor, ActorKind
from agentadmin.audit.format import Target
from agentadmin.engine.errors import SessionErased

if TYPE_CHECKING:
    from django.db.models import Q

    from sessions_app.models import AgentSession, AgentThread

CREATE = "sessions:create"
IMPORT = "import"
EXPORT = "export"
CLEAR = "sessions:clear"
INTERRUPT = "runs:interrupt"
FORK = "sessions:fork"
RESTORE = "sessions:restore"
ERASE = "sessions:erase"

_OF_ERASED = frozenset({READ, ERASE, "audit:read"})
"""What an erased session still allows: to read what is left, and to ask for its erasure again."""


def session_target(session: AgentSession) -> Target:
    """What the audit log calls a session."""
    return Target(
        kind="session",
        id=str(session.id),
        within=str(session.id),
        agent_id=session.agent_id,
        label=str(session),
    )


def thread_target(thread: AgentThread) -> Target:
    """What the audit log calls a thread; reads its session."""
    return Target(
        kind="thread",
        id=str(thread.id),
        within=str(thread.session_id),
        agent_id=thread.agent_id,
        label=f"{thread.session} / {thread}",
    )


def require_thread(actor: Actor, permission: str, thread: AgentThread) -> None:
    """Raise unless the actor may; a thread that the actor does not see is not found."""
    session = thread.session
    actor.require_row(
        permission,
        namespace=session.namespace,
        user_id=session.user_id,
        agent_id=thread.agent_id,
        target=thread_target(thread),
    )
    _refuse_erased(actor, permission, session)


def require_session(actor: Actor, permission: str, session: AgentSession) -> None:
    """The same for a session, by the agent of its first thread."""
    actor.require_row(
        permission,
        namespace=session.namespace,
        user_id=session.user_id,
        agent_id=session.agent_id,
        target=session_target(session),
    )
    _refuse_erased(actor, permission, session)


def _refuse_erased(actor: Actor, permission: str, session: AgentSession) -> None:
    """The product itself still cancels what is queued there."""
    if session.erasing_since is None or permission in _OF_ERASED:
        return
    if actor.kind is not ActorKind.SYSTEM:
        raise SessionErased


def require_widening(actor: Actor, thread: AgentThread) -> None:
    """Widening what an agent may do needs its own permission, of a person also a fresh sign-in."""
    actor.require_widening(
        namespace=thread.session.namespace,
        agent_id=thread.agent_id,
        target=thread_target(thread),
    )


def may_thread(actor: Actor, permission: str, thread: AgentThread) -> bool:
    """Whether a page offers an act: what was erased takes none, whatever the actor may."""
    session = thread.session
    if session.erasing_since is not None and permission not in _OF_ERASED:
        return False
    return actor.may(permission, session.namespace, thread.agent_id)


def lacking(thread: AgentThread, permission: str) -> str:
    """What an act lacks that is not offered: the permission, or a session that is not erased."""
    return permission if thread.session.erasing_since is None else "a session that is not erased"


def visible_sessions(actor: Actor) -> Q:
    """The sessions that exist for the actor, as a filter over `AgentSession`."""
    return actor.visible(READ, user="user_id")


def visible_threads(actor: Actor) -> Q:
    """The threads that exist for the actor, as a filter over `AgentThread`."""
    return actor.visible(READ, namespace="session__namespace", user="session__user_id")


def owner_of(actor: Actor, claimed: str | None) -> str | None:
    """The user id of a new session: a bound token's wins over what the body says."""
    return claimed if actor.bound_user_id is None else actor.bound_user_id


def reads_of_others(actor: Actor) -> bool:
    """Whether a read by this actor belongs into the audit log: end users read their own."""
    return actor.bound_user_id is None and actor.kind is not ActorKind.SYSTEM
