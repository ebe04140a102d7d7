"""`create_operator NAME --role ROLE`: an account, with a password that is printed once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agentadmin.access.actor import Actor
from agentadmin.access.permissions import ROLES
from agentadmin.access.services import create_user, new_password
from agentadmin.command import PlainCommand
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.state.codec import dumps
from agentadmin.trace import start_trace

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(PlainCommand):
    """Creates an account with one role."""

    help = "Create an account with one role; its password is printed once."
    example = "manage.py create_operator alice --role operator --namespace 'team-a'"

    def add_arguments(self, parser: CommandParser) -> None:
        """Name, role, place, and where the password comes from."""
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--role", required=True, choices=sorted(ROLES))
        parser.add_argument("--namespace", default="*", help="pattern, * is anything (default)")
        parser.add_argument("--agent", default="*", help="pattern, * is anything (default)")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the account and print what its owner needs."""
        given = _read_password() if options["password_stdin"] else None
        password = given or new_password()
        user = create_user(
            actor=Actor.system("manage.py", trace_id=start_trace()),
            name=options["name"],
            password=password,
            role=options["role"],
            namespace=options["namespace"],
            agent=options["agent"],
        )
        shown = None if given else password
        if options["json"]:
            answer = {"name": user.get_username(), "role": options["role"], "password": shown}
            self.stdout.write(dumps(answer))
            return
        self.stdout.write(f"Created {options['role']} {user.get_username()}.")
        if shown:
            self.stdout.write(f"Password (shown once): {shown}")


def _read_password() -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if not password.strip():
        raise InvalidInput("standard input holds no password", path="--password-stdin")
    return password
