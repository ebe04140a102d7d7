"""What the stores' own logs still hold of something that was erased: they are written anew.

A deleted row stands in SQLite's log until it is overwritten, a deleted key in the append-only file
of Redis until that is rewritten. PostgreSQL's own vacuum does the same for its dead rows.
"""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection
from redis import RedisError

from agentadmin import redis

log = logging.getLogger(__name__)


def drop_old_bytes() -> None:
    """Have the logs rewritten. The erasure is done already, so a store that refuses is logged."""
    try:
        _rewrite_redis()
    except RedisError as error:
        log.warning("the append-only file of Redis was not rewritten: %s", error)
    try:
        _empty_sqlite_log()
    except DatabaseError as error:
        log.warning("the log of SQLite was not emptied: %s", error)


def _rewrite_redis() -> None:
    with redis.commands_sync() as client:
        if client.info("persistence").get("aof_enabled"):
            client.bgrewriteaof()


def _empty_sqlite_log() -> None:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
