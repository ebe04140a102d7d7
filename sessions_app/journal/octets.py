"""How many bytes a text takes, counted where it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Func, IntegerField

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler


class Octets(Func):
    """The length of a text in UTF-8."""

    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> Any:
        """SQLite counts characters of text, and bytes only of a blob."""
        return self.as_sql(
            compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **extra
        )
