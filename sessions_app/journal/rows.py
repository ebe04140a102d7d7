"""Rows in, engine values out: the reads that the journal port is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connections, transaction
from django.db.models import F, Q

from agentadmin.engine.clock import now
from agentadmin.engine.identity import ThreadKey
from agentadmin.engine.journal.base import Head, ThreadRef
from agentadmin.engine.journal.facts import Fact
from sessions_app.journal import sql
from sessions_app.journal.unreadable import strictly
from sessions_app.models import (
    AgentSession,
    AgentThread,
    JournalFact,
    Payload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

type Decode = Callable[[int, str | None], dict[str, Any]]
"""From the seq and the text of a fact to its payload; `strictly` or `kindly`."""


def find_thread(key: ThreadKey, using: str = "default") -> ThreadRef | None:
    """The thread of an identity, or None."""
    threads = AgentThread.objects.using(using)
    id_ = threads.filter(identity_hash=key.identity_hash()).values_list("id", flat=True).first()
    return None if id_ is None else ThreadRef(str(id_), key)


def ensure_thread(key: ThreadKey, using: str = "default") -> ThreadRef:
    """The thread of an identity, made with its session when missing; safe to race."""
    found = find_thread(key, using)
    if found is not None:
        return found
    try:
        with transaction.atomic(using=using):
            return create_thread(key, ensure_session(key, using), using)
    except IntegrityError:
        found = find_thread(key, using)
        if found is None:
            raise
        return found


def ensure_session(key: ThreadKey, using: str = "default") -> AgentSession:
    """The session of a thread's identity, made when missing."""
    session, _ = AgentSession.objects.using(using).get_or_create(
        identity_hash=key.session.identity_hash(),
        defaults={
            "namespace": key.namespace,
            "user_id": key.user_id,
            "session_id": key.session_id,
            "agent_id": key.agent_id,
            "updated_at": now(),
        },
    )
    return session


def create_thread(key: ThreadKey, session: AgentSession, using: str = "default") -> ThreadRef:
    """A new thread in a session. Raises IntegrityError when the identity is taken."""
    thread = AgentThread.objects.using(using).create(
        session=session,
        agent_id=key.agent_id,
        thread_id=key.thread_id,
        identity_hash=key.identity_hash(),
        updated_at=now(),
    )
    sessions = AgentSession.objects.using(using).filter(id=session.id)
    sessions.update(thread_count=F("thread_count") + 1)
    return ThreadRef(str(thread.id), key)


def thread_ref(thread: AgentThread) -> ThreadRef:
    """The engine's name of a row; reads its session."""
    session = thread.session
    key = ThreadKey(
        session.namespace, session.user_id, session.session_id, thread.agent_id, thread.thread_id
    )
    return ThreadRef(str(thread.id), key)


def head_row(thread_id: str, using: str = "default") -> Head | None:
    """Where a thread stands, by the database's clock."""
    words = sql.dialect(using)
    moment, params = words.time()
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT head_seq, version, lease_epoch, lease_owner, "  # noqa: S608
            f"(lease_until IS NOT NULL AND lease_until > {moment}) "
            f"FROM {sql.THREAD} WHERE id = %s",
            [*params, words.uuid(thread_id)],
        )
        row = cursor.fetchone()
    return None if row is None else Head(row[0], row[1], row[2], row[3], bool(row[4]))


FACT_COLUMNS = (
    "thread_id",
    "seq",
    "type",
    "turn_id",
    "run_id",
    "step_id",
    "required",
    "payload",
    "salt",
    "payload_commit",
    "occurred_at",
    "epoch",
)


def read_facts(
    query: Q, limit: int, using: str = "default", *, decode: Decode = strictly
) -> list[Fact]:
    """Facts that match, in seq order; long payloads are fetched in one more query."""
    rows = list(
        JournalFact.objects.using(using)
        .filter(query)
        .order_by("seq")
        .values_list(*FACT_COLUMNS)[:limit]
    )
    return facts_of(rows, using, decode)


def facts_of(rows: list[tuple[Any, ...]], using: str, decode: Decode = strictly) -> list[Fact]:
    """Facts of rows of `FACT_COLUMNS`."""
    outside = [bytes(row[9]) for row in rows if row[7] is None]
    texts: dict[bytes, str | None] = {}
    if outside:
        payloads = Payload.objects.using(using)
        found = payloads.filter(thread_id=rows[0][0], commit__in=outside)
        texts = {bytes(commit): text for commit, text in found.values_list("commit", "text")}
    return [_fact(row, texts, decode) for row in rows]


def _fact(row: tuple[Any, ...], texts: dict[bytes, str | None], decode: Decode) -> Fact:
    _, seq, type_, turn_id, run_id, step_id, required, text, salt, commit, at, epoch = row
    commit = bytes(commit)
    payload = decode(seq, texts.get(commit) if text is None else text)
    return Fact(
        seq, type_, payload, turn_id, run_id, step_id, required, at, epoch, commit, salt is None
    )


def stored_text(fact: Fact, thread_id: Any, using: str = "default") -> str | None:
    """A fact's payload as it is stored, also where it cannot be decoded."""
    facts = JournalFact.objects.using(using).filter(thread_id=thread_id, seq=fact.seq)
    text = facts.values_list("payload", flat=True).first()
    if text is not None:
        return text
    outside = Payload.objects.using(using).filter(thread_id=thread_id, commit=fact.commit)
    return outside.values_list("text", flat=True).first()
