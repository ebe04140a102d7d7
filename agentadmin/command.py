"""What every `manage.py` command of the product does the same way.

An example under `--help`; errors as one plain sentence on standard error; exit code 0, 1 for what
was refused or found wrong, 2 for a call that cannot be understood.
"""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    handle_default_options,
)
from django.db import DatabaseError, connections

from agentadmin.engine.errors import AgentAdminError


class PlainCommand(BaseCommand):
    """A command that people and scripts can read."""

    example = ""
    # The product's own checks are `doctor`; warnings would stand between a script and its output.
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's parser with the example below the options."""
        epilog = f"Example: {self.example}" if self.example else None
        return super().create_parser(prog_name, subcommand, epilog=epilog, **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run, and turn what the product refuses into a command's error."""
        try:
            return super().execute(*args, **options)
        except AgentAdminError as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            first = str(error).partition("\n")[0]
            raise CommandError(
                f"The database {_database()} cannot be used ({first}). Is AGENTADMIN_DATA the "
                "folder that `manage.py up` runs on, and DATABASE_URL its own? A new database "
                "needs `manage.py migrate`."
            ) from error

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django does, without the name of the exception before the sentence."""
        self._called_from_command_line = True
        parser = self.create_parser(argv[0], argv[1])
        options = vars(parsed := parser.parse_args(argv[2:]))
        handle_default_options(parsed)
        try:
            self.execute(*options.pop("args", ()), **options)
        except CommandError as error:
            if sentence := str(error):
                self.stderr.write(sentence)
            sys.exit(error.returncode)
        finally:
            connections.close_all()


def _database() -> str:
    """Which one it is, without user and password."""
    used = settings.DATABASES["default"]
    if not used.get("HOST"):
        return str(used["NAME"])
    return f"{used['NAME']} on {used['HOST']}:{used.get('PORT') or 5432}"
