"""`import_state FILE…`: states of other systems, or our own, as sessions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from agentadmin.access.actor import Actor
from agentadmin.command import PlainCommand
from agentadmin.engine.errors import AgentAdminError
from agentadmin.engine.state.codec import dumps
from agentadmin.engine.state.interop import Format
from agentadmin.trace import start_trace
from sessions_app.services.importing import (
    DEFAULT_AGENT,
    FROM_AGENT,
    FROM_FILE,
    Import,
    import_state,
)
from sessions_app.services.sessions import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from sessions_app.models import AgentSession


class Command(PlainCommand):
    """Imports each file as a session of its own; one line per file."""

    help = (
        "Import agent states as sessions: one line per file. What is wrong with a file is said on "
        "standard error and the others are imported all the same."
    )
    example = "manage.py import_state state.json --agent demo --user alice"

    def add_arguments(self, parser: CommandParser) -> None:
        """Which files, and as what."""
        parser.add_argument("files", nargs="+", metavar="FILE", help="`-` is standard input")
        parser.add_argument(
            "--format",
            default="auto",
            choices=["auto", *(str(f) for f in Format)],
            metavar="FORMAT",
            help="auto, native, agentscope-java, agentscope-python (default: auto)",
        )
        parser.add_argument("--agent", default=DEFAULT_AGENT, metavar="AGENT_ID")
        parser.add_argument("--namespace", default=DEFAULT_NAMESPACE)
        parser.add_argument("--user", metavar="USER_ID", help="instead of the file's")
        parser.add_argument("--session", metavar="SESSION_ID", help="instead of the file's")
        parser.add_argument("--thread", metavar="THREAD_ID", help="instead of the file's")
        parser.add_argument("--permissions", default=FROM_FILE, choices=[FROM_FILE, FROM_AGENT])
        parser.add_argument("--json", action="store_true", help="print one JSON object per file")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import all that can be imported; exit 1 when a file could not."""
        actor = Actor.system("manage.py", trace_id=start_trace())
        failed = 0
        for name in options["files"]:
            try:
                self._say(name, self._import(actor, name, options), json=options["json"])
            except (AgentAdminError, OSError) as error:
                failed += 1
                self.stderr.write(f"{name}: {_sentence(error)}")
        if failed:
            raise CommandError(f"{failed} of {len(options['files'])} files were not imported.")

    def _import(self, actor: Actor, name: str, options: dict[str, Any]) -> AgentSession:
        document = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        wanted = Import(
            document=document,
            format=options["format"],
            namespace=options["namespace"],
            agent_id=options["agent"],
            user_id=options["user"],
            session_id=options["session"],
            thread_id=options["thread"],
            permissions=options["permissions"],
        )
        return import_state(actor=actor, wanted=wanted)

    def _say(self, name: str, session: AgentSession, *, json: bool) -> None:
        thread = session.threads.get()
        told = {
            "file": name,
            "session": str(session.id),
            "thread": str(thread.id),
            "session_id": session.session_id,
            "messages": thread.context_messages,
        }
        if json:
            self.stdout.write(dumps(told))
        else:
            self.stdout.write(
                f"{name}: session {session.id} ({session}) with {told['messages']} messages"
            )


def _sentence(error: AgentAdminError | OSError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
