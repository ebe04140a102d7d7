"""`export_state SESSION`: a session's state as a document, on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.access.actor import Actor
from agentadmin.command import PlainCommand
from agentadmin.engine.errors import NotFound
from agentadmin.engine.state.codec import dumps
from agentadmin.engine.state.interop import Format
from agentadmin.trace import start_trace
from sessions_app.models import AgentSession
from sessions_app.policies import EXPORT
from sessions_app.selectors.exporting import export_thread
from sessions_app.selectors.sessions import session_detail
from sessions_app.selectors.threads import thread_of_session

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


MOST = 20
"""So many candidates are listed where a name is not enough."""


class Command(PlainCommand):
    """Prints the newest state of a thread."""

    help = (
        "Print the state of a session, named by its UUID or its session id, as a document. What "
        "the format cannot hold is listed on standard error."
    )
    example = "manage.py export_state 0190a6e2-… --format agentscope-java > state.json"

    def add_arguments(self, parser: CommandParser) -> None:
        """Which session, in which format."""
        parser.add_argument("session", metavar="SESSION")
        parser.add_argument("--format", default=Format.NATIVE, choices=[str(f) for f in Format])
        parser.add_argument("--thread", metavar="THREAD_UUID", help="when it has several")
        parser.add_argument("--json", action="store_true", help="compact, on one line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the document."""
        actor = Actor.system("manage.py", trace_id=start_trace())
        session = session_detail(actor, _named(options["session"]), EXPORT)
        thread = thread_of_session(session, options["thread"])
        export = export_thread(thread, options["format"])
        if options["json"]:
            self.stdout.write(dumps(export.value))
        else:
            # The file that came in goes out with the end that it had.
            self.stdout.write(export.text, ending="" if export.untouched else "\n")
        for loss in export.losses:
            self.stderr.write(f"{loss.kind}: {loss.path}: {loss.why}")


def _named(name: str) -> str:
    """The public id behind a session id, when exactly one session has it."""
    found = list(AgentSession.objects.filter(session_id=name).order_by("-updated_at")[: MOST + 1])
    if len(found) > 1:
        lines = [f"  {one.id}  {one.namespace}/{_user(one)}" for one in found[:MOST]]
        lines += ["  and more"] if len(found) > MOST else []
        listed = "\n".join(lines)
        raise NotFound(f"Several sessions are called {name}; name one by its UUID:\n{listed}")
    return str(found[0].id) if found else name


def _user(session: AgentSession) -> str:
    return "anonymous" if session.user_id is None else session.user_id
