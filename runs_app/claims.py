"""Claiming, keeping and giving back threads by conditional UPDATE, on the database's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

from sessions_app.journal.sql import THREAD, dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE = 2.0
"""Seconds that a dispatched message has before the sweep sends another one."""
BUSY_GRACE = 30.0
"""The same while messages are waiting: the workers have too much to do, nothing was lost."""
SWEEP_LIMIT = 200


def claim_workable(thread_id: str, owner: str, seconds: float) -> int | None:
    """Lease a thread on which there is something to do; the epoch, or None.

    A redelivered or late message finds nothing: no live lease is broken, no idle thread is taken.
    """
    words = dialect("default")
    until, until_params = words.time(seconds)
    moment, moment_params = words.time()
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {THREAD} SET lease_owner = %s, lease_epoch = lease_epoch + 1, "  # noqa: S608
            f"lease_until = {until} WHERE id = %s "
            "AND (runnable_since IS NOT NULL OR pending_controls > 0) "
            f"AND (lease_until IS NULL OR lease_until <= {moment}) RETURNING lease_epoch",
            [owner, *until_params, words.uuid(thread_id), *moment_params],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def release_idle(thread_id: str, epoch: int) -> bool:
    """Give a lease back when nothing is left to do; False when something came in between."""
    return _release(thread_id, epoch, " AND pending_controls = 0 AND runnable_since IS NULL")


def release(thread_id: str, epoch: int) -> bool:
    """Give a lease back; False when it was no longer ours."""
    return _release(thread_id, epoch, "")


def _release(thread_id: str, epoch: int, condition: str) -> bool:
    words = dialect("default")
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {THREAD} SET lease_owner = NULL, lease_until = NULL "  # noqa: S608
            f"WHERE id = %s AND lease_epoch = %s AND lease_owner IS NOT NULL{condition}",
            [words.uuid(thread_id), epoch],
        )
        return bool(cursor.rowcount == 1)


def renew_all(epochs: Mapping[str, int], seconds: float) -> set[str]:
    """Prolong the leases of one process in one statement; the threads that are still ours."""
    words = dialect("default")
    until, params = words.time(seconds)
    pairs = " OR ".join(["(id = %s AND lease_epoch = %s)"] * len(epochs))
    for thread_id, epoch in epochs.items():
        params += [words.uuid(thread_id), epoch]
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {THREAD} SET lease_until = {until} "  # noqa: S608 - fixed words only
            f"WHERE lease_owner IS NOT NULL AND ({pairs}) RETURNING id",
            params,
        )
        ours = {_text(row[0]) for row in cursor.fetchall()}
    return {thread_id for thread_id in epochs if thread_id.replace("-", "") in ours}


def any_stranded() -> bool:
    """Whether there is a thread that nobody works on although it could go on."""
    where, params = _stranded(GRACE)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {THREAD} WHERE {where} LIMIT 1", params)  # noqa: S608
        return cursor.fetchone() is not None


def take_stranded(grace: float = GRACE) -> list[str]:
    """Those threads, each given to one sweeper only."""
    words = dialect("default")
    moment, now_params = words.time()
    where, params = _stranded(grace)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {THREAD} SET dispatched_at = {moment} WHERE id IN "  # noqa: S608
            f"(SELECT id FROM {THREAD} WHERE {where} LIMIT {SWEEP_LIMIT}) AND {where} "
            "RETURNING id",
            [*now_params, *params, *params],
        )
        return [_dashed(_text(row[0])) for row in cursor.fetchall()]


def _stranded(grace: float) -> tuple[str, list[Any]]:
    """An expired lease is a dead worker's: at once. One that was given back, or never taken, waits
    for its message first.
    """
    words = dialect("default")
    moment, now_params = words.time()
    earlier, earlier_params = words.time(-grace)
    where = (
        "(runnable_since IS NOT NULL OR pending_controls > 0) "
        f"AND (dispatched_at IS NULL OR dispatched_at <= {earlier}) "
        f"AND ((lease_until IS NULL AND (runnable_since IS NULL OR runnable_since <= {earlier})) "
        f"OR lease_until <= {moment})"
    )
    return where, [*earlier_params, *earlier_params, *now_params]


def _text(value: object) -> str:
    return str(value).replace("-", "")


def _dashed(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
