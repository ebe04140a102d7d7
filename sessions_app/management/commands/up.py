"""`manage.py up`: start everything on this machine."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import connections

from agentadmin import env
from agentadmin.command import PlainCommand
from agentadmin.supervisor.data import CannotStartError
from agentadmin.supervisor.up import Plan, run


class Command(PlainCommand):
    """Starts web, worker, scheduler and, unless REDIS_URL is set, Valkey; Ctrl-C stops them all."""

    help = "Create, migrate and seed the data folder, then start everything; Ctrl-C stops it all."
    example = "AGENTADMIN_DATA=/srv/agentadmin PORT=8080 manage.py up"

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 1 with one plain sentence where it cannot start."""
        try:
            run(plan(), migrate=migrate, first_user=has_users, say=self._say)
        except CannotStartError as error:
            raise CommandError(str(error)) from None

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        sys.stdout.flush()


def plan() -> Plan:
    """This start as the settings have it."""
    given = env.text("REDIS_URL")
    return Plan(
        base=settings.BASE_DIR,
        data=settings.DATA,
        host=settings.HOST,
        port=settings.PORT,
        redis_url=settings.REDIS_URL,
        socket=None if given else Path(settings.REDIS_URL.removeprefix("unix://")),
        static=settings.BASE_DIR / "static" / "dist",
    )


def migrate() -> None:
    """Bring the database up to date, and leave no connection behind for the children to share."""
    call_command("migrate", interactive=False, verbosity=0)


def has_users() -> bool:
    """Whether somebody can sign in already."""
    found: bool = get_user_model().objects.exists()
    for connection in connections.all(initialized_only=True):
        connection.close()
        close_pool = getattr(connection, "close_pool", None)
        if close_pool is not None:
            close_pool()
    return found
