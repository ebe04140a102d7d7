"""The head of a chain, in as few statements as it takes: it is held until COMMIT.

Plain SQL, because this is on the path of every change: the ORM's share of it was a millisecond.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import connections

from agentadmin.audit.format import GENESIS
from agentadmin.audit.models import AuditChain, AuditEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Field

_TAKE = "UPDATE audit_auditchain SET n = n + %s WHERE chain = %s RETURNING n, head_hash"
_MOVE = "UPDATE audit_auditchain SET head_hash = %s WHERE chain = %s"


def take(chain: str, count: int, using: str) -> tuple[int, str]:
    """Hold the head and count it up; its number and hash before."""
    with connections[using].cursor() as cursor:
        cursor.execute(_TAKE, [count, chain])
        taken = cursor.fetchone()
        if taken is None:
            # The first entry of a chain: of several writers who find none, one inserts.
            first = AuditChain(chain=chain, n=0, head_hash=GENESIS)
            AuditChain.objects.using(using).bulk_create([first], ignore_conflicts=True)
            cursor.execute(_TAKE, [count, chain])
            taken = cursor.fetchone()
    n, head_hash = taken
    return n - count, head_hash


def settle(chain: str, rows: Sequence[AuditEntry], using: str) -> None:
    """Insert the entries and point the head at the last of them."""
    connection = connections[using]
    with connection.cursor() as cursor:
        if len(rows) == 1:
            # psycopg's executemany is a pipeline, which costs more than one statement.
            cursor.execute(_insert(), _values(rows[0], connection))
        else:
            cursor.executemany(_insert(), [_values(row, connection) for row in rows])
        cursor.execute(_MOVE, [rows[-1].hash, chain])
    for row in rows:
        row._state.adding, row._state.db = False, using


@cache
def _fields() -> tuple[Field[Any, Any], ...]:
    return tuple(AuditEntry._meta.local_concrete_fields)


@cache
def _insert() -> str:
    columns = ", ".join(f'"{field.column}"' for field in _fields())
    marks = ", ".join(["%s"] * len(_fields()))
    return f"INSERT INTO audit_auditentry ({columns}) VALUES ({marks})"  # noqa: S608 - our own names


def _values(row: AuditEntry, connection: Any) -> list[Any]:
    return [
        field.get_db_prep_save(getattr(row, field.attname), connection=connection)
        for field in _fields()
    ]
