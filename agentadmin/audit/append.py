"""Append entries to a chain, inside the transaction of the change they tell of.

`append` must be the last statement before COMMIT: it holds the chain's head until then, and the
lock order of the whole product is thread first, chain head last.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from django.db import connections
from django.db.transaction import TransactionManagementError

from agentadmin.audit import head
from agentadmin.audit.format import (
    NewEntry,
    chain_of,
    columns_of,
    content_columns_of,
    seal,
)
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.clock import now
from agentadmin.engine.state.codec import loads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


def append(entry: NewEntry, *, using: str = "default") -> AuditEntry:
    """Write one entry at the head of its chain."""
    return append_all([entry], using=using)[0]


def append_all(entries: Sequence[NewEntry], *, using: str = "default") -> list[AuditEntry]:
    """Write several entries of one chain, in their order."""
    if not connections[using].in_atomic_block:
        raise TransactionManagementError("An audit entry belongs into the change's transaction.")
    chain = chain_of(entries[0].namespace)
    # 1. Take the numbers: the first statement writes, so every database makes others wait here.
    n, head_hash = head.take(chain, len(entries), using)
    # 2. Give each entry its number, time and link.
    rows: list[AuditEntry] = []
    for number, entry in enumerate(entries, n + 1):
        rows.append(_row(entry, chain=chain, n=number, prev_hash=head_hash))
        head_hash = rows[-1].hash
    # 3. Write them and let the head tell of the last one.
    head.settle(chain, rows, using)
    return rows


def _row(entry: NewEntry, *, chain: str, n: int, prev_hash: str) -> AuditEntry:
    moment = now()
    at, entry_id = _to_the_millisecond(moment), _entry_id(moment, n)
    sealed = seal(entry, entry_id=str(entry_id), n=n, at=at, prev_hash=prev_hash)
    columns = columns_of(loads(sealed.header)) | content_columns_of(loads(sealed.body))
    return AuditEntry(
        **{**columns, "id": entry_id, "chain": chain},
        n=n,
        at=at,
        header=sealed.header,
        body=sealed.body,
        salt=sealed.salt,
        body_commit=sealed.body_commit,
        prev_hash=prev_hash,
        hash=sealed.hash,
    )


def _to_the_millisecond(at: datetime) -> datetime:
    """The header states milliseconds; the column must say exactly the same."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _entry_id(at: datetime, n: int) -> uuid.UUID:
    """A UUIDv7 that goes on with microseconds and the entry's number: lists sort as things went."""
    seconds = at.replace(microsecond=0)
    milliseconds = int(seconds.timestamp()) * 1000 + at.microsecond // 1000
    fraction = at.microsecond % 1000 * 4096 // 1000
    low = 0b10 << 62 | (n & 0xFFFF) << 46 | int.from_bytes(os.urandom(5))
    return uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | low)
