"""Emptying the test database after a test: only the tables that hold rows, and no more.

Django's own flush truncates every table and makes all content types and permissions anew, which
costs more than most tests do.
"""

from functools import cache

from django.db import connections, transaction
from django.test import TransactionTestCase

KEPT = {"django_content_type", "auth_permission"}
"""The migrations made these; nothing here changes them."""


@cache
def _look(using: str) -> str:
    """A query that names every table with a row in it."""
    found = connections[using].introspection.django_table_names(only_existing=True)
    tables = sorted(set(found) - KEPT)
    return " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in tables
    )


def empty(using: str) -> None:
    """Delete every row; the foreign keys are checked at the end, so the order does not matter."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(_look(using))
        for (table,) in cursor.fetchall():
            cursor.execute(f'DELETE FROM "{table}"')


def _teardown(test: TransactionTestCase) -> None:
    for using in test._databases_names(include_mirrors=False):  # type: ignore[attr-defined]
        empty(using)


def install() -> None:
    """Have every test that commits leave an empty database this way."""
    TransactionTestCase._fixture_teardown = _teardown  # type: ignore[method-assign]
