"""Making sessions, and noting who read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.audit.later import read_later
from agentadmin.engine.errors import SessionExists
from agentadmin.engine.identity import MAIN_THREAD, ThreadKey, check_id, new_id
from sessions_app.journal.rows import create_thread, ensure_session
from sessions_app.models import AgentSession, AgentThread
from sessions_app.policies import (
    CREATE,
    owner_of,
    reads_of_others,
    session_target,
    thread_target,
)
from sessions_app.services.idempotency import Answer, Once

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """The identity that is asked for; a missing session id is made."""

    agent_id: str
    user_id: str | None = None
    session_id: str | None = None
    namespace: str = DEFAULT_NAMESPACE
    thread_id: str = MAIN_THREAD

    def key(self, actor: Actor) -> ThreadKey:
        """The checked identity; a bound token's user wins over the body's."""
        user_id = owner_of(actor, self.user_id)
        return ThreadKey(
            check_id(self.namespace, "namespace"),
            None if user_id is None else check_id(user_id, "user_id"),
            new_id() if self.session_id is None else check_id(self.session_id, "session_id"),
            check_id(self.agent_id, "agent_id"),
            check_id(self.thread_id, "thread_id"),
        )


def create_session(*, actor: Actor, new: NewSession, request_id: str | None = None) -> AgentSession:
    """A session with its first thread. Raises SessionExists when the identity is taken."""
    key = new.key(actor)
    actor.require(CREATE, namespace=key.namespace, agent_id=key.agent_id)
    body = [new.namespace, new.agent_id, new.user_id, new.session_id, new.thread_id]
    once = Once.of(actor, "createSession", key.namespace, request_id, {"identity": body})
    if answer := once.answered():
        return _of_answer(answer)
    try:
        with transaction.atomic():
            session = insert_session(key)
            once.remember(Answer(201, {"id": str(session.id)}))
            append(
                NewEntry(
                    namespace=key.namespace,
                    actor=actor,
                    action="sessions.create",
                    target=session_target(session),
                    outcome=Outcome.ALLOWED,
                )
            )
    except (IntegrityError, SessionExists):
        # The same request, or another one for the same identity, came at the same time.
        if answer := once.answered():
            return _of_answer(answer)
        refuse_existing(key)
        raise
    return session


def _of_answer(answer: Answer) -> AgentSession:
    return AgentSession.objects.get(id=answer.body["id"])


def insert_session(key: ThreadKey) -> AgentSession:
    """The rows of a new session and its first thread, in the caller's transaction."""
    refuse_existing(key)
    session = ensure_session(key)
    create_thread(key, session)
    session.refresh_from_db()
    return session


def refuse_existing(key: ThreadKey) -> None:
    """Raise SessionExists, with the public id, when the session's identity is taken."""
    taken = AgentSession.objects.filter(identity_hash=key.session.identity_hash())
    if (id_ := taken.values_list("id", flat=True).first()) is not None:
        raise SessionExists(str(id_))


def note_read(actor: Actor, thread: AgentThread, what: str) -> None:
    """Audit that somebody read what is not their own conversation; at most once a minute."""
    if reads_of_others(actor):
        read_later(
            NewEntry(
                namespace=thread.session.namespace,
                actor=actor,
                action=f"threads.read_{what}",
                target=thread_target(thread),
                outcome=Outcome.ALLOWED,
            )
        )
