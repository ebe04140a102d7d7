"""The database: it answers, has every table, and its clock is ours."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from agentadmin.engine.clock import now
from agentadmin.ops.doctor import Fault, Skipped

# Leases are kept on the database's clock; pages and tokens on the web server's.
SKEW = 2.0


def answers() -> str:
    """Ask it something."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return _version()
    except (DatabaseError, OSError) as error:
        raise Fault(f"The database does not answer: {_first(error)}.") from error


def _version() -> str:
    if connection.vendor == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}, {connection.settings_dict['NAME']}"
    major, minor = divmod(getattr(connection, "pg_version", 0), 10_000)
    return f"PostgreSQL {major}.{minor}"


def migrated() -> str:
    """Every migration of this version of the program is applied."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, OSError) as error:
        raise Skipped("The database does not answer.") from error
    if missing:
        names = ", ".join(f"{each.app_label}.{each.name}" for each, _ in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise Fault(f"The database lacks migrations ({names}{more}): run `manage.py migrate`.")
    return f"{len(executor.loader.applied_migrations)} applied"


def clock() -> str:
    """Leases and pages must agree about now."""
    if connection.vendor == "sqlite":
        return "the same machine's"
    try:
        with connection.cursor() as cursor:
            before = now()
            cursor.execute("SELECT clock_timestamp()")
            (theirs,) = cursor.fetchone()
    except (DatabaseError, OSError) as error:
        raise Skipped("The database does not answer.") from error
    return skew(before, theirs, now(), "database")


def skew(before: datetime, theirs: datetime, after: datetime, whose: str) -> str:
    """How far a clock is from ours, which was read before and after it."""
    seconds = (theirs.astimezone(UTC) - (before + (after - before) / 2)).total_seconds()
    if abs(seconds) > SKEW:
        way = "ahead of" if seconds > 0 else "behind"
        raise Fault(
            f"The clock of the {whose} is {abs(seconds):.1f} s {way} this machine's: "
            "keep both by NTP."
        )
    return f"{abs(seconds) * 1000:.0f} ms apart"


def _first(error: Exception) -> str:
    """The first line of what a driver says; it names no password."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
