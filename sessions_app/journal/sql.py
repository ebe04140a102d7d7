"""The statements of a commit, the same for SQLite and PostgreSQL but for two dialect words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import batched, chain
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connections

from agentadmin.engine.clock import now
from agentadmin.engine.journal.base import Batch, CommitKind, Committed, Release, ThreadRef
from agentadmin.engine.journal.facts import Fact, SealedFact
from sessions_app.models import AgentThread, JournalFact, Payload, StateSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper

INLINE_LIMIT = 64 * 1024
"""Payloads longer than this many characters stand in their own table (spec §8.2)."""

FACTS_PER_STATEMENT = 500
"""SQLite takes at most 32,766 parameters; this stays far below."""

THREAD = AgentThread._meta.db_table
FACT = JournalFact._meta.db_table
SNAPSHOT = StateSnapshot._meta.db_table
PAYLOAD = Payload._meta.db_table

_RELEASED = {
    Release.NEVER: "1 = 0",
    Release.IF_IDLE: "pending_controls = 0 AND queued_turns = 0",
    Release.PARK: "pending_controls = 0",
}


class Dialect:
    """How one database writes ids and tells the time. Leases go by the database's clock."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self.server_clock = connection.vendor == "postgresql"

    def uuid(self, value: str) -> str | UUID:
        """A UUID as this database stores it."""
        id_ = UUID(value)
        return id_ if self.connection.features.has_native_uuid_field else id_.hex

    def time(self, seconds: float = 0.0) -> tuple[str, list[Any]]:
        """SQL and parameters for the database's time, `seconds` from now."""
        if self.server_clock:
            return "clock_timestamp() + make_interval(secs => %s)", [seconds]
        return "%s", [self.stamp(now() + timedelta(seconds=seconds))]

    def stamp(self, value: datetime) -> Any:
        """A time as a parameter of a raw statement."""
        return self.connection.ops.adapt_datetimefield_value(value)

    def read_time(self, value: datetime | str) -> datetime:
        """A time out of a raw statement."""
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        return value if value.tzinfo else value.replace(tzinfo=UTC)


def dialect(using: str) -> Dialect:
    """The dialect of a configured database."""
    return Dialect(connections[using])


RETURNED = "head_seq, version, lease_epoch, lease_owner, updated_at"
"""What a moved head tells its commit."""


def advance(
    cursor: CursorWrapper, words: Dialect, ref: ThreadRef, batch: Batch
) -> Committed | None:
    """Take n seqs (and a version) from the thread's row; None when the condition does not hold."""
    update, params = move(words, ref, batch)
    cursor.execute(f"{update} RETURNING {RETURNED}", params)
    return committed_row(words, batch, cursor.fetchone())


def move(words: Dialect, ref: ThreadRef, batch: Batch) -> tuple[str, list[Any]]:
    """The UPDATE of the thread's row that a commit stands on."""
    now_sql, now_params = words.time()
    sets = ["head_seq = head_seq + %s", "version = version + %s", f"updated_at = {now_sql}"]
    params: list[Any] = [len(batch.facts), int(batch.snapshot is not None), *now_params]
    if batch.snapshot is not None:
        sets += ["context_messages = %s", "context_tokens = %s"]
        params += [batch.snapshot.messages, batch.snapshot.tokens]
    if batch.kind is CommitKind.EDIT:
        sets += ["lease_epoch = lease_epoch + 1", "lease_owner = NULL", "lease_until = NULL"]
    elif batch.release is not Release.NEVER:
        condition = _RELEASED[batch.release]
        sets += [
            f"lease_owner = CASE WHEN {condition} THEN NULL ELSE lease_owner END",
            f"lease_until = CASE WHEN {condition} THEN NULL ELSE lease_until END",
        ]
    where, where_params = _condition(words, ref, batch)
    update = f"UPDATE {THREAD} SET {', '.join(sets)} WHERE {where}"  # noqa: S608 - fixed words only
    return update, [*params, *where_params]


def committed_row(words: Dialect, batch: Batch, row: tuple[Any, ...] | None) -> Committed | None:
    """What a moved head means for its commit."""
    if row is None:
        return None
    head, version, epoch, owner, at = row
    return Committed(
        first_seq=head - len(batch.facts) + 1,
        last_seq=head,
        version=version,
        epoch=epoch,
        at=words.read_time(at),
        released=batch.kind is CommitKind.RUN and owner is None,
    )


def _condition(words: Dialect, ref: ThreadRef, batch: Batch) -> tuple[str, list[Any]]:
    where = ["id = %s"]
    params: list[Any] = [words.uuid(ref.id)]
    if batch.kind is CommitKind.RUN:
        where.append("lease_epoch = %s")
        params.append(batch.lease.epoch if batch.lease else -1)
    elif batch.kind is CommitKind.EDIT:
        now_sql, now_params = words.time()
        where.append(f"(lease_until IS NULL OR lease_until <= {now_sql})")
        params += now_params
    if batch.kind is CommitKind.EDIT or batch.snapshot is not None:
        where.append("version = %s")
        params.append(batch.expected_version)
    return " AND ".join(where), params


def append(cursor: CursorWrapper, words: Dialect, ref: ThreadRef, batch: Batch) -> Committed | None:
    """Head, facts and snapshot one after the other; None when the condition does not hold."""
    committed = advance(cursor, words, ref, batch)
    if committed is not None:
        insert_facts(cursor, words, ref, batch, committed)
        insert_snapshot(cursor, words, ref, batch, committed)
    return committed


def insert_facts(
    cursor: CursorWrapper, words: Dialect, ref: ThreadRef, batch: Batch, at: Committed
) -> None:
    """Append the facts, of an import many thousands; long payloads go to their own rows first."""
    thread = words.uuid(ref.id)
    for fact in batch.facts:
        if len(fact.text) > INLINE_LIMIT:
            insert_payload(cursor, thread, fact)
    rows = _fact_rows(thread, batch.facts, at, words.stamp(at.at))
    if words.server_clock:
        _copy_facts(cursor, words, rows)
        return
    for some in batched(rows, FACTS_PER_STATEMENT):
        places = ", ".join([f"({', '.join(['%s'] * len(some[0]))})"] * len(some))
        statement = f"INSERT INTO {FACT} ({_FACT_COLUMNS}) VALUES {places}"  # noqa: S608
        cursor.execute(statement, list(chain.from_iterable(some)))


_FACT_COLUMNS = (
    "thread_id, seq, type, turn_id, run_id, step_id, required, payload, salt, payload_commit, "
    "occurred_at, epoch"
)


def _fact_rows(
    thread: str | UUID, facts: Sequence[SealedFact], at: Committed, time: Any
) -> Iterator[tuple[Any, ...]]:
    """The rows in the order of `_FACT_COLUMNS`."""
    for seq, fact in enumerate(facts, at.first_seq):
        text = fact.text if len(fact.text) <= INLINE_LIMIT else None
        about = (fact.type, fact.turn_id, fact.run_id, fact.step_id, fact.required)
        yield (thread, seq, *about, text, fact.salt, fact.commit, time, at.epoch)


def _copy_facts(cursor: CursorWrapper, words: Dialect, rows: Iterable[tuple[Any, ...]]) -> None:
    """PostgreSQL takes many rows as a stream: statements of as many parameters cost it seconds."""
    statement = f"COPY {FACT} ({_FACT_COLUMNS}) FROM STDIN"
    with words.connection.wrap_database_errors, cursor.cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def insert_payload(cursor: CursorWrapper, thread: str | UUID, fact: SealedFact) -> None:
    """Store a long payload under its commitment."""
    cursor.execute(
        f'INSERT INTO {PAYLOAD} (thread_id, "commit", salt, text) VALUES (%s, %s, %s, %s)',  # noqa: S608
        [thread, fact.commit, fact.salt, fact.text],
    )


def insert_snapshot(
    cursor: CursorWrapper, words: Dialect, ref: ThreadRef, batch: Batch, at: Committed
) -> None:
    """Write the new version's row; an unchanged substate points at the version that holds it."""
    draft = batch.snapshot
    if draft is None:
        return
    thread = words.uuid(ref.id)
    replaced = draft.replaced
    if draft.replaced_in_batch is not None:
        replaced = at.first_seq + draft.replaced_in_batch
    holder = "%s"
    holder_params: list[Any] = [at.version]
    if draft.substate is None:
        holder = f"(SELECT substate_version FROM {SNAPSHOT} WHERE thread_id = %s AND version = %s)"  # noqa: S608
        holder_params = [thread, at.version - 1]
    salt = None if draft.substate is None else draft.salt
    cursor.execute(
        f"INSERT INTO {SNAPSHOT} (thread_id, version, seq, substate, substate_version, "  # noqa: S608
        "substate_salt, substate_commit, replaced_seq, digest, reason, actor, messages, tokens, "
        f"created_at) VALUES (%s, %s, %s, %s, {holder}, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            thread,
            at.version,
            at.last_seq,
            draft.substate,
            *holder_params,
            salt,
            draft.substate_commit,
            replaced,
            draft.digest,
            draft.reason,
            draft.actor,
            draft.messages,
            draft.tokens,
            words.stamp(at.at),
        ],
    )


def committed_facts(batch: Batch, at: Committed) -> Sequence[Fact]:
    """The batch's facts with the seqs they got."""
    return tuple(
        Fact.of(fact, seq=at.first_seq + index, at=at.at, epoch=at.epoch)
        for index, fact in enumerate(batch.facts)
    )
