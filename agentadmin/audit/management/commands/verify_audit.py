"""`verify_audit [BUNDLE]`: check the audit log of the database, or an exported bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from agentadmin.audit.bundle import verify_bundle
from agentadmin.audit.verify import verify
from agentadmin.command import PlainCommand
from agentadmin.engine.state.codec import dumps

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(PlainCommand):
    """Verifies the hash chains."""

    help = "Verify the audit log, or an exported bundle; exit code 1 if anything was altered."
    example = "manage.py verify_audit audit-2026-12.jsonl --json"

    def add_arguments(self, parser: CommandParser) -> None:
        """What to verify, and how to say it."""
        parser.add_argument("bundle", nargs="?", metavar="BUNDLE")
        parser.add_argument("--chain", help="one chain of the database only")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify and say what was found."""
        if options["bundle"]:
            result = _verify_file(Path(options["bundle"]))
        else:
            result = verify(options["chain"])
        if options["json"]:
            self.stdout.write(dumps(result))
        elif result["ok"]:
            self.stdout.write(_intact(result))
        if not result["ok"]:
            raise CommandError("" if options["json"] else _altered(result))


def _verify_file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as lines:
            return verify_bundle(lines)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.", returncode=2) from error


def _intact(result: dict[str, Any]) -> str:
    erased = f", {result['erased']} of them erased" if result["erased"] else ""
    return f"The audit log is intact: {result['checked']} entries{erased}."


def _altered(result: dict[str, Any]) -> str:
    bad = result["first_bad"]
    where = f"chain {bad['chain']}, entry {bad['n']}: " if bad["chain"] else ""
    return f"The audit log was altered: {where}{bad['why']}."
