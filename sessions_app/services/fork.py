"""Fork: a version of a thread becomes a session of its own, and both say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import InvalidInput, NotFound, SessionExists
from agentadmin.engine.state.widening import widening
from sessions_app.journal.configured import thread_journal
from sessions_app.journal.founding import FoundingJournal
from sessions_app.models import AgentSession, AgentThread
from sessions_app.policies import (
    FORK,
    require_thread,
    require_widening,
    session_target,
    thread_target,
)
from sessions_app.selectors.sessions import session_threads
from sessions_app.selectors.threads import state_at
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.parked import parked_facts
from sessions_app.services.reasons import checked_reason
from sessions_app.services.sessions import NewSession, insert_session, refuse_existing
from sessions_app.services.settled import require_settled

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.identity import ThreadKey
    from agentadmin.engine.journal.base import Committed
    from sessions_app.selectors.threads import StateAt

SOURCE = "fork"
"""What the first fact of a fork gives as its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """Which version of which thread is forked, and into which session."""

    thread: AgentThread
    version: int | None = None
    """The newest one where it is not given."""
    session_id: str | None = None
    """One is made where it is not given."""
    reason: Any = None

    def key(self, actor: Actor) -> ThreadKey:
        """The identity of the new session: the source's, but for its session id."""
        thread, session = self.thread, self.thread.session
        new = NewSession(
            namespace=session.namespace,
            agent_id=thread.agent_id,
            user_id=session.user_id,
            session_id=self.session_id,
            thread_id=thread.thread_id,
        )
        return new.key(actor)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a fork would hold: nothing is written yet."""

    found: StateAt
    key: ThreadKey
    widens: tuple[str, ...]
    """In which ways it allows more than the source does now."""


def rehearse_fork(*, actor: Actor, fork: Fork) -> Rehearsal:
    """Read and check everything that can be refused before anything is written."""
    require_thread(actor, FORK, fork.thread)
    key = fork.key(actor)
    try:
        found = state_at(fork.thread, fork.version)
    except NotFound as error:
        raise InvalidInput(error.detail, path="version") from error
    newest = require_settled(fork.thread)
    wider = widening(newest.permission_context, found.state.permission_context)
    refuse_existing(key)
    return Rehearsal(found, key, tuple(wider))


def fork_session(*, actor: Actor, fork: Fork, request_id: str | None = None) -> AgentSession:
    """A new session with the state of a version; its history begins with that version's messages.

    Raises ThreadBusy, InteractionPending or NeedsReconcile while the source is in the middle of
    something, SessionExists when the identity is taken, InvalidInput for a version it has not.
    """
    require_thread(actor, FORK, fork.thread)
    reason = checked_reason(fork.reason)
    body = {"version": fork.version, "session_id": fork.session_id, "reason": reason}
    once = Once.of(actor, "forkSession", str(fork.thread.id), request_id, body)
    if first := once.answered():
        return AgentSession.objects.get(id=first.body["id"])
    try:
        rehearsal = rehearse_fork(actor=actor, fork=fork)
        if rehearsal.widens:
            require_widening(actor, fork.thread)
        return _insert(actor, fork, rehearsal, once, reason)
    except (IntegrityError, SessionExists):
        # The same request, or another one for the same identity, came at the same time.
        if first := once.answered():
            return AgentSession.objects.get(id=first.body["id"])
        refuse_existing(fork.key(actor))
        raise


def _insert(
    actor: Actor, fork: Fork, rehearsal: Rehearsal, once: Once, reason: str
) -> AgentSession:
    key, found = rehearsal.key, rehearsal.found
    state = found.state.with_identity(key.session_id, key.user_id, key.thread_id)

    def begin() -> AgentThread:
        [thread] = session_threads(insert_session(key))
        thread.forked_from, thread.forked_version = fork.thread, found.version
        thread.save(update_fields=["forked_from", "forked_version"])
        return thread

    def remember(_: Committed) -> None:
        once.remember(Answer(201, {"id": str(_made(journal).session_id)}))

    def audit(committed: Committed) -> None:
        made = _made(journal)
        append(_entry_of_source(actor, fork, made, found, reason))
        append(_entry_of_fork(actor, fork, made, committed, found, reason))

    journal = FoundingJournal(thread_journal(), begin)
    writer = journal.writer(key, actor=actor.name)
    writer.state = state
    writer.baseline = _baseline(fork.thread, found)
    facts = parked_facts(state, actor)
    journal.write(writer, facts, reason=reason, rows=(remember, audit))
    session = _made(journal).session
    session.refresh_from_db()
    return session


def _made(journal: FoundingJournal) -> AgentThread:
    assert journal.thread is not None  # noqa: S101 - its commit has set it
    return journal.thread


def _baseline(thread: AgentThread, found: StateAt) -> dict[str, Any]:
    """What the first fact says of where the state came from."""
    return {
        "source": SOURCE,
        "count": len(found.state.context),
        "document": None,
        "from": {
            "session": str(thread.session_id),
            "thread": str(thread.id),
            "session_id": thread.session.session_id,
            "version": found.version,
            "seq": found.seq,
        },
    }


def _entry_of_source(
    actor: Actor, fork: Fork, made: AgentThread, found: StateAt, reason: str
) -> NewEntry:
    """The act, where an auditor of the source looks for it."""
    return NewEntry(
        namespace=fork.thread.session.namespace,
        actor=actor,
        action="sessions.fork",
        target=thread_target(fork.thread),
        outcome=Outcome.ALLOWED,
        reason=reason,
        content={
            "version": found.version,
            "seq": found.seq,
            "fork": {
                "session": str(made.session_id),
                "thread": str(made.id),
                "session_id": made.session.session_id,
            },
        },
    )


def _entry_of_fork(
    actor: Actor,
    fork: Fork,
    made: AgentThread,
    committed: Committed,
    found: StateAt,
    reason: str,
) -> NewEntry:
    """The first entry of the new session."""
    return NewEntry(
        namespace=fork.thread.session.namespace,
        actor=actor,
        action="sessions.create",
        target=session_target(made.session),
        outcome=Outcome.ALLOWED,
        reason=reason,
        content={
            "version": committed.version,
            "seq": committed.last_seq,
            **_baseline(fork.thread, found),
        },
    )
