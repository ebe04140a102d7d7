"""Reading a thread back: what a run, an edit and a page wait for, so it is plain SQL.

The lists that statements carry are one parameter each; their text then never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connections

from agentadmin.engine.journal.base import Snapshot
from agentadmin.engine.state import codec
from sessions_app.journal import rows, sql
from sessions_app.journal.unreadable import strictly

if TYPE_CHECKING:
    from collections.abc import Collection

    from agentadmin.engine.journal.facts import Fact
    from sessions_app.journal.sql import Dialect

_READ = f"SELECT {', '.join(rows.FACT_COLUMNS)} FROM {sql.FACT} WHERE thread_id = %s AND "  # noqa: S608
_SNAPSHOT = (
    "SELECT s.version, s.seq, s.replaced_seq, h.substate, s.substate_commit, s.digest, s.reason, "  # noqa: S608
    "s.actor, s.created_at, s.messages, s.tokens, h.substate_salt "
    f"FROM {sql.SNAPSHOT} s JOIN {sql.SNAPSHOT} h "
    "ON h.thread_id = s.thread_id AND h.version = s.substate_version WHERE s.thread_id = %s"
)


def facts_between(
    thread_id: str,
    after: int,
    through: int | None,
    types: Collection[str] | None,
    limit: int,
    using: str = "default",
) -> list[Fact]:
    """Facts in seq order, `after` excluded, `through` included."""
    words = sql.dialect(using)
    where, params = ["seq > %s"], [after]
    if through is not None:
        where.append("seq <= %s")
        params.append(through)
    listed: list[Any] = []
    if types is not None:
        where.append(f"type {_among(words)}")
        listed = [_list(words, [str(type_) for type_ in types])]
    return _facts(
        words,
        f"{_READ}{' AND '.join(where)} ORDER BY seq LIMIT %s",
        [words.uuid(thread_id), *params, *listed, limit],
        using,
    )


def facts_at(
    thread_id: str,
    seqs: Collection[int],
    using: str = "default",
    *,
    decode: rows.Decode = strictly,
) -> list[Fact]:
    """The facts at these seqs."""
    words = sql.dialect(using)
    statement = f"{_READ}seq {_among(words)} ORDER BY seq"
    params = [words.uuid(thread_id), _list(words, list(seqs))]
    return _facts(words, statement, params, using, decode)


def snapshot(thread_id: str, version: int | None, using: str = "default") -> Snapshot | None:
    """The snapshot of a version, or the newest, with the text of its substate."""
    words = sql.dialect(using)
    params: list[Any] = [words.uuid(thread_id)]
    which = " ORDER BY s.version DESC LIMIT 1"
    if version is not None:
        which = " AND s.version = %s"
        params.append(version)
    with connections[using].cursor() as cursor:
        cursor.execute(_SNAPSHOT + which, params)
        row = cursor.fetchone()
    return None if row is None else _snapshot(words, row)


def _among(words: Dialect) -> str:
    return "= ANY(%s)" if words.server_clock else "IN (SELECT value FROM json_each(%s))"


def _list(words: Dialect, values: list[Any]) -> Any:
    return values if words.server_clock else codec.dumps(values)


def _facts(
    words: Dialect,
    statement: str,
    params: list[Any],
    using: str,
    decode: rows.Decode = strictly,
) -> list[Fact]:
    with connections[using].cursor() as cursor:
        cursor.execute(statement, params)
        found = cursor.fetchall()
    if not words.server_clock:
        found = [_told(words, *row) for row in found]
    return rows.facts_of(found, using, decode)


def _told(words: Dialect, *row: Any) -> tuple[Any, ...]:
    """SQLite has no booleans and no times."""
    *head, required, text, salt, commit, at, epoch = row
    return (*head, bool(required), text, salt, commit, words.read_time(at), epoch)


def _snapshot(words: Dialect, row: tuple[Any, ...]) -> Snapshot:
    version, seq, replaced, text, commit, digest, reason, actor, at, messages, tokens, salt = row
    return Snapshot(
        version=version,
        seq=seq,
        replaced_seq=replaced,
        substate=text or "",
        substate_commit=bytes(commit),
        digest=bytes(digest),
        reason=reason,
        actor=actor,
        at=words.read_time(at),
        messages=messages,
        tokens=tokens,
        erased=salt is None,
    )
