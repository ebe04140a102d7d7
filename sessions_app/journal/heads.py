"""A session's row repeats what lists show of its threads; this keeps it true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from django.db import connections

from sessions_app.journal.sql import THREAD, dialect
from sessions_app.models import AgentSession
from sessions_app.states import URGENCY, ThreadStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sessions_app.journal.sql import Dialect


class Writes(Protocol):
    """A cursor, or what keeps statements for one."""

    def execute(self, sql: str, params: Sequence[Any]) -> Any:
        """Take one statement."""


_SESSION = AgentSession._meta.db_table
_RANK = " ".join(f"WHEN '{status}' THEN {rank}" for rank, status in enumerate(URGENCY))
_STATUS = " ".join(f"WHEN {rank} THEN '{status}'" for rank, status in enumerate(URGENCY))
# It runs in most commits of a run, so it is one statement and no queryset.
_SYNC = (
    f"UPDATE {_SESSION} SET (status, pending, tokens) = ("  # noqa: S608 - fixed words only
    f"SELECT CASE MIN(CASE status {_RANK} ELSE {len(URGENCY)} END) {_STATUS} "
    f"ELSE '{ThreadStatus.IDLE}' END, SUM(pending_interactions), SUM(tokens) "
    f"FROM {THREAD} t WHERE t.session_id = {_SESSION}.id), updated_at = %s "
    f"WHERE id = (SELECT session_id FROM {THREAD} WHERE id = %s)"
)


def sync_session(thread_id: str, at: datetime, using: str = "default") -> None:
    """Repeat the threads' most urgent status, questions and tokens on the session's row.

    Call it in the transaction that changed a thread's status, pending interactions or tokens.
    """
    with connections[using].cursor() as cursor:
        write_session(cursor, dialect(using), thread_id, at)


def write_session(cursor: Writes, words: Dialect, thread_id: str, at: datetime) -> None:
    """`sync_session` by whatever takes statements."""
    cursor.execute(_SYNC, [words.stamp(at), words.uuid(thread_id)])
