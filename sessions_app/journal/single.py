"""A whole commit in one statement, where the database can (PostgreSQL): one round trip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions_app.journal.sql import (
    FACT,
    FACTS_PER_STATEMENT,
    INLINE_LIMIT,
    RETURNED,
    SNAPSHOT,
    committed_row,
    move,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.backends.utils import CursorWrapper

    from agentadmin.engine.journal.base import Batch, Committed, SnapshotDraft, ThreadRef
    from agentadmin.engine.journal.facts import SealedFact
    from sessions_app.journal.sql import Dialect

# The thread's row gives what only the commit knows: seqs, epoch and time. Numbers and truth values
# are written out: psycopg remembers how to bind a statement only up to 50 parameters.
_FACTS = (
    f"INSERT INTO {FACT} (thread_id, seq, type, turn_id, run_id, step_id, required, payload, salt, "  # noqa: S608
    "payload_commit, occurred_at, epoch) SELECT m.id, m.head_seq - f.back, f.type, f.turn_id, "
    "f.run_id, f.step_id, f.required, f.payload, f.salt, f.commit, m.updated_at, m.lease_epoch "
    "FROM moved m, (VALUES {places}) AS f(back, required, type, turn_id, run_id, step_id, payload, "
    "salt, commit)"
)
_HOLDER = f"(SELECT substate_version FROM {SNAPSHOT} WHERE thread_id = m.id AND version = %s)"  # noqa: S608
_SNAPSHOT = (
    f"INSERT INTO {SNAPSHOT} (thread_id, version, seq, substate, substate_version, substate_salt, "  # noqa: S608
    "substate_commit, replaced_seq, digest, reason, actor, messages, tokens, created_at) "
    "SELECT m.id, m.version, m.head_seq, %s, {holder}, %s, %s, {replaced}, %s, %s, %s, %s, %s, "
    "m.updated_at FROM moved m"
)


def is_single(words: Dialect, batch: Batch) -> bool:
    """Whether one statement holds this commit."""
    return (
        words.server_clock
        and 0 < len(batch.facts) <= FACTS_PER_STATEMENT
        and all(len(fact.text) <= INLINE_LIMIT for fact in batch.facts)
    )


def append(cursor: CursorWrapper, words: Dialect, ref: ThreadRef, batch: Batch) -> Committed | None:
    """Head, facts and snapshot together; None when the condition does not hold."""
    update, params = move(words, ref, batch)
    parts = [f"moved AS ({update} RETURNING id, {RETURNED})"]
    statement, more = _facts(batch.facts)
    parts.append(f"appended AS ({statement})")
    params += more
    if batch.snapshot is not None:
        statement, more = _snapshot(batch, batch.snapshot)
        parts.append(f"kept AS ({statement})")
        params += more
    cursor.execute(f"WITH {', '.join(parts)} SELECT {RETURNED} FROM moved", params)  # noqa: S608
    return committed_row(words, batch, cursor.fetchone())


def _facts(facts: Sequence[SealedFact]) -> tuple[str, list[Any]]:
    places: list[str] = []
    params: list[Any] = []
    for back, fact in zip(reversed(range(len(facts))), facts, strict=True):
        values = (str(fact.type), fact.turn_id, fact.run_id, fact.step_id)
        shown = ", ".join("NULL" if value is None else "%s" for value in values)
        places.append(f"({back}, {fact.required}, {shown}, %s, %s, %s)")
        params += [value for value in values if value is not None]
        params += [fact.text, fact.salt, fact.commit]
    return _FACTS.format(places=", ".join(places)), params


def _snapshot(batch: Batch, draft: SnapshotDraft) -> tuple[str, list[Any]]:
    """An unchanged substate points at the version that holds it."""
    holder, holder_params = "m.version", []
    if draft.substate is None:
        holder, holder_params = _HOLDER, [batch.expected_version]
    replaced, replaced_param = "%s", draft.replaced
    if draft.replaced_in_batch is not None:
        replaced = "m.head_seq - %s"
        replaced_param = len(batch.facts) - 1 - draft.replaced_in_batch
    params: list[Any] = [
        draft.substate,
        *holder_params,
        None if draft.substate is None else draft.salt,
        draft.substate_commit,
        replaced_param,
        draft.digest,
        draft.reason,
        draft.actor,
        draft.messages,
        draft.tokens,
    ]
    return _SNAPSHOT.format(holder=holder, replaced=replaced), params
