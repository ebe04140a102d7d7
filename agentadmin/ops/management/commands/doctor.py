"""`manage.py doctor`: look at everything that the product needs."""

import json
from typing import Any

from django.core.management import CommandError, CommandParser

from agentadmin.command import PlainCommand
from agentadmin.ops.checks import CHECKS
from agentadmin.ops.doctor import Finding, State, document, examine, faults


class Command(PlainCommand):
    """Exit code 1 with one plain sentence per fault."""

    help = (
        "Check database, Redis, worker, clocks, secret key, permissions of files and disk space; "
        "exit code 1 with one sentence per fault."
    )
    example = "DATABASE_URL=postgres://… REDIS_URL=redis://… manage.py doctor --json"

    def add_arguments(self, parser: CommandParser) -> None:
        """For people by default."""
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, json: bool, **options: Any) -> None:
        """What is in order goes to standard output, what is not to standard error."""
        found = examine(CHECKS)
        self.stdout.write(_as_json(found) if json else _as_text(found))
        if wrong := faults(found):
            raise CommandError("" if json else "\n".join(wrong))


def _as_json(found: list[Finding]) -> str:
    return json.dumps(document(found), ensure_ascii=False)


def _as_text(found: list[Finding]) -> str:
    fine = [each for each in found if each.state is not State.FAULT]
    return "\n".join(f"{each.state:<8} {each.name:<15} {each.detail}" for each in fine)
