"""`create_token --user NAME`: an API token, printed alone on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model

from agentadmin.access.actor import Actor
from agentadmin.access.tokens import MAX_DAYS, create_token, scopes_of
from agentadmin.command import PlainCommand
from agentadmin.engine.clock import iso
from agentadmin.engine.errors import NotFound
from agentadmin.engine.state.codec import dumps
from agentadmin.trace import start_trace

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(PlainCommand):
    """Creates a token within a user's permissions."""

    help = "Create an API token for a user and print it, this once, alone on standard output."
    example = "manage.py create_token --user alice --scopes sessions:read,runs:submit --days 30"

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose, for what, how long."""
        parser.add_argument("--user", required=True, metavar="NAME")
        parser.add_argument(
            "--scopes", metavar="a,b", help="permissions (default: every permission of the user)"
        )
        parser.add_argument("--days", type=int, default=MAX_DAYS, metavar="N")
        parser.add_argument("--name", default="", help="what the list of tokens calls it")
        parser.add_argument(
            "--bound-user", metavar="USER_ID", help="act for this end user's sessions only"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the token and print it."""
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise NotFound(f"There is no user {options['user']}.")
        scopes = options["scopes"]
        created = create_token(
            actor=Actor.system("manage.py", trace_id=start_trace()),
            user=user,
            name=options["name"],
            scopes=None if scopes is None else [s.strip() for s in scopes.split(",") if s.strip()],
            days=options["days"],
            bound_user_id=options["bound_user"],
        )
        if not options["json"]:
            self.stdout.write(created.secret)
            return
        token = created.token
        answer: dict[str, Any] = {
            "id": str(token.pk),
            "token": created.secret,
            "user": user.get_username(),
        }
        answer |= {"scopes": sorted(scopes_of(token)), "expires_at": iso(token.expires_at)}
        self.stdout.write(dumps(answer))
