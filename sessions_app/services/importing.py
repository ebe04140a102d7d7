"""Import: a state from elsewhere becomes a session, with its history as facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError

from agentadmin.audit.append import append
from agentadmin.audit.format import NewEntry, Outcome
from agentadmin.engine.errors import InvalidInput, SessionExists
from agentadmin.engine.identity import MAIN_THREAD, ThreadKey
from agentadmin.engine.state import codec
from agentadmin.engine.state.widening import widening
from sessions_app.journal.configured import agent_permissions, thread_journal
from sessions_app.journal.documents import SealedDocument
from sessions_app.journal.founding import FoundingJournal
from sessions_app.models import AgentSession
from sessions_app.policies import IMPORT, session_target
from sessions_app.selectors.sessions import session_threads
from sessions_app.services.documents import Document, Given, read_document
from sessions_app.services.idempotency import Answer, Once
from sessions_app.services.parked import parked_facts
from sessions_app.services.sessions import (
    DEFAULT_NAMESPACE,
    NewSession,
    insert_session,
    refuse_existing,
)

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from agentadmin.engine.journal.base import Committed
    from agentadmin.engine.state.agent_state import AgentState
    from sessions_app.models import AgentThread

DEFAULT_AGENT = "demo"
FROM_FILE, FROM_AGENT = "file", "agent"
REASON = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What is imported, and as what; identity that is given wins over the document's."""

    document: bytes | str | Given
    format: str = "auto"
    namespace: str = DEFAULT_NAMESPACE
    agent_id: str = DEFAULT_AGENT
    user_id: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    permissions: str = FROM_FILE
    place: str = ""
    """Where the document stands in what the caller sent: paths of its errors begin there."""

    def read(self) -> Document:
        """The document, or an error whose path the caller can follow."""
        try:
            return read_document(self.document, self.format)
        except InvalidInput as error:
            raise error if error.path == "format" else error.under(self.place) from None

    def identity(self, actor: Actor, document: Document) -> ThreadKey:
        """Who the session will be."""
        state = document.state
        new = NewSession(
            namespace=self.namespace,
            agent_id=self.agent_id,
            user_id=state.user_id if self.user_id is None else self.user_id,
            session_id=self.session_id or document.field("session_id"),
            thread_id=self.thread_id or state.thread_id or MAIN_THREAD,
        )
        return new.key(actor)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an import would bring: read and checked, and nothing written yet."""

    wanted: Import
    document: Document
    key: ThreadKey
    widens: tuple[str, ...]
    """In which ways the file's permissions, if they are kept, allow more than the agent's."""


def import_state(*, actor: Actor, wanted: Import, request_id: str | None = None) -> AgentSession:
    """A new session with the document's conversation; the document itself is kept untouched.

    Raises InvalidInput with the path of what is wrong, SessionExists when the identity is taken.
    """
    return import_read(
        actor=actor, reading=read_import(actor=actor, wanted=wanted), request_id=request_id
    )


def read_import(*, actor: Actor, wanted: Import) -> Reading:
    """Read a document without keeping anything of it. Raises as `import_state` does."""
    if wanted.permissions not in (FROM_FILE, FROM_AGENT):
        raise InvalidInput("must be file or agent", path="permissions")
    actor.require(IMPORT, namespace=wanted.namespace, agent_id=wanted.agent_id)
    document = wanted.read()
    key = wanted.identity(actor, document)
    if wanted.permissions == FROM_AGENT:
        return Reading(wanted, document, key, ())
    widens = widening(agent_permissions(key.agent_id), document.state.permission_context)
    return Reading(wanted, document, key, tuple(widens))


def import_read(*, actor: Actor, reading: Reading, request_id: str | None = None) -> AgentSession:
    """Write what was read; allowing more than the agent itself does is widening."""
    key = reading.key
    body = _body(reading.wanted, reading.document)
    once = Once.of(actor, "importSession", key.namespace, request_id, body)
    if first := once.answered():
        return AgentSession.objects.get(id=first.body["id"])
    if reading.widens:
        actor.require_widening(namespace=key.namespace, agent_id=key.agent_id)
    try:
        return _insert(actor, reading, once)
    except (IntegrityError, SessionExists):
        if first := once.answered():
            return AgentSession.objects.get(id=first.body["id"])
        refuse_existing(key)
        raise


def _body(wanted: Import, document: Document) -> dict[str, Any]:
    identity = [wanted.agent_id, wanted.user_id, wanted.session_id, wanted.thread_id]
    return {
        "state": codec.sha256(document.text),
        "format": wanted.format,
        "identity": identity,
        "permissions": wanted.permissions,
    }


def _state(reading: Reading) -> AgentState:
    """The state under its new identity."""
    key = reading.key
    state = reading.document.state.with_identity(key.session_id, key.user_id, key.thread_id)
    if reading.wanted.permissions == FROM_AGENT:
        state.permission_context = agent_permissions(key.agent_id)
    return state


def _insert(actor: Actor, reading: Reading, once: Once) -> AgentSession:
    key, state = reading.key, _state(reading)
    sealed = SealedDocument.of(reading.document.text)
    baseline = _baseline(reading, sealed)

    def found() -> AgentThread:
        [thread] = session_threads(insert_session(key))
        sealed.keep(thread)
        return thread

    def remember(_: Committed) -> None:
        once.remember(Answer(201, {"id": str(_made(journal).id)}))

    def audit(committed: Committed) -> None:
        append(_entry(actor, _made(journal), committed, baseline))

    journal = FoundingJournal(thread_journal(), found)
    writer = journal.writer(key, actor=actor.name)
    writer.state, writer.baseline = state, baseline
    facts = parked_facts(state, actor)
    session = journal.write(writer, facts, reason=REASON, rows=(remember, audit)).session
    session.refresh_from_db()
    return session


def _made(journal: FoundingJournal) -> AgentSession:
    assert journal.thread is not None  # noqa: S101 - its commit has set it
    return journal.thread.session


def _baseline(reading: Reading, sealed: SealedDocument) -> dict[str, Any]:
    """What the first fact says of where the state came from."""
    document = reading.document
    return {
        "source": str(document.format),
        "count": len(document.state.context),
        "document": sealed.commit,
        "identity": {name: document.field(name) for name in ("session_id", "user_id", "thread_id")},
        "permissions": reading.wanted.permissions,
        **({"legacy": True} if document.legacy else {}),
    }


def _entry(
    actor: Actor, session: AgentSession, committed: Committed, baseline: dict[str, Any]
) -> NewEntry:
    return NewEntry(
        namespace=session.namespace,
        actor=actor,
        action="sessions.import",
        target=session_target(session),
        outcome=Outcome.ALLOWED,
        reason=REASON,
        content={"version": committed.version, "seq": committed.last_seq, **baseline},
    )
