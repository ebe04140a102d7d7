"""`manage.py simulate_load`: sessions and turns at a steady rate, and how long each took."""

import asyncio
import json
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, CommandParser

from agentadmin.access.actor import Actor
from agentadmin.access.tokens import create_token, revoke_token
from agentadmin.command import PlainCommand
from agentadmin.env import text
from agentadmin.ops.load import NotThereError, Plan, Simulation, is_loopback
from agentadmin.supervisor.probe import reachable
from agentadmin.trace import start_trace

MOST = {"sessions": 10_000, "rate": 500.0, "seconds": 3600.0}


class Command(PlainCommand):
    """Bounded by default; only this machine unless told otherwise."""

    help = (
        "Make sessions and submit turns at a steady rate to the running product, through its API; "
        "print latencies, exit code 1 if anything was refused or did not end."
    )
    example = "manage.py simulate_load --sessions 50 --rate 20 --seconds 30 --json"

    def add_arguments(self, parser: CommandParser) -> None:
        """Small numbers unless given."""
        here = f"http://{reachable(settings.HOST)}:{settings.PORT}"
        parser.add_argument("--sessions", type=int, default=10, metavar="N")
        parser.add_argument("--rate", type=float, default=5.0, metavar="M", help="turns per second")
        parser.add_argument("--seconds", type=float, default=10.0, metavar="S")
        parser.add_argument("--text", default="/echo hello", help="what every turn says")
        parser.add_argument("--agent", default="demo", metavar="ID")
        parser.add_argument("--url", default=here, help=f"the product (default: {here})")
        parser.add_argument(
            "--user", default="admin", help="whose token is made for the run, and revoked after it"
        )
        parser.add_argument(
            "--allow-remote",
            action="store_true",
            help="also a product on another machine, with the token of AGENTADMIN_TOKEN",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the bounds, run, tell."""
        _check(options)
        given = text("AGENTADMIN_TOKEN")
        if not given and not is_loopback(options["url"]):
            raise CommandError("Set AGENTADMIN_TOKEN to a token of the other product.")
        token = None if given else _token(options["user"])
        try:
            simulation = Simulation(_plan(options, given or token.secret), self._say)  # type: ignore[union-attr]
            try:
                asyncio.run(simulation.run())
            except NotThereError as error:
                raise CommandError(
                    f"{error} Start the product with `manage.py up`, or name it with --url."
                ) from error
            except KeyboardInterrupt:
                self._say("stopped; what was measured until then:")
        finally:
            if token is not None:
                revoke_token(actor=_actor(), token_id=str(token.token.pk))
        document = {**simulation.figures.document(), "session_prefix": simulation.prefix}
        if document["sessions"]:
            self._say(
                f"{document['sessions']} sessions stay, for you to look at or to erase: "
                f"{options['url'].rstrip('/')}/sessions?q={simulation.prefix}"
            )
        self.stdout.write(json.dumps(document) if options["json"] else _table(document))
        if not document["ok"]:
            raise CommandError("" if options["json"] else "Not everything was taken and ended.")

    def _say(self, sentence: str) -> None:
        self.stderr.write(sentence, style_func=str)


def _check(options: dict[str, Any]) -> None:
    for name, most in MOST.items():
        if not 0 < options[name] <= most:
            raise CommandError(f"--{name} must be above 0 and at most {most:g}.", returncode=2)
    if not is_loopback(options["url"]) and not options["allow_remote"]:
        raise CommandError(
            f"{options['url']} is another machine: say --allow-remote if you mean it.",
            returncode=2,
        )


def _actor() -> Actor:
    return Actor.system("manage.py", trace_id=start_trace())


def _token(name: str) -> Any:
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user {name}: say whose token to use with --user.")
    return create_token(actor=_actor(), user=user, name="simulate_load", days=1)


def _plan(options: dict[str, Any], token: str) -> Plan:
    return Plan(
        url=options["url"].rstrip("/"),
        token=token,
        sessions=options["sessions"],
        rate=options["rate"],
        seconds=options["seconds"],
        text=options["text"],
        agent_id=options["agent"],
    )


def _table(document: dict[str, Any]) -> str:
    lines = [f"{'':<18}{'p50':>10}{'p95':>10}{'max':>10}"]
    for name, title in (("create_ms", "create session"), ("submit_ms", "submit turn")):
        lines.append(_row(f"{title}, ms", document[name]))
    lines.append(_row("turn, ms", document["turn_ms"]))
    turns = ", ".join(f"{n} {state}" for state, n in document["turns"].items())
    lines.append(f"turns: {turns}; {document['turns_per_second']} per second")
    if document["refused"]:
        lines.append("refused: " + ", ".join(f"{n} {c}" for c, n in document["refused"].items()))
    return "\n".join(lines)


def _row(title: str, found: dict[str, float] | None) -> str:
    cells = ("–", "–", "–") if found is None else (found["p50"], found["p95"], found["max"])
    return f"{title:<18}" + "".join(f"{cell:>10}" for cell in cells)
