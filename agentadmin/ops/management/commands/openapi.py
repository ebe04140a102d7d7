"""`manage.py openapi`: the OpenAPI document of the API, as JSON."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError, CommandParser

from agentadmin.api import api
from agentadmin.command import PlainCommand

COMMITTED = Path(settings.BASE_DIR) / "tests" / "data" / "openapi.json"


class Command(PlainCommand):
    """Prints the document, or writes the committed one anew."""

    help = "Print the OpenAPI document of /api/v1, or write the one that the tests compare with."
    example = "manage.py openapi --write"

    def add_arguments(self, parser: CommandParser) -> None:
        """Printing is the default."""
        parser.add_argument(
            "--write", action="store_true", help="write tests/data/openapi.json of this checkout"
        )

    def handle(self, *args: Any, write: bool, **options: Any) -> None:
        """The same text in either case."""
        text = document()
        if not write:
            self.stdout.write(text, ending="")
            return
        if not COMMITTED.parent.is_dir():
            raise CommandError(f"There is no folder {COMMITTED.parent}.")
        COMMITTED.write_text(text, encoding="utf-8")
        self.stdout.write(f"{COMMITTED} is written.")


def document() -> str:
    """The document as it is committed: in the order of the routes, one space of indentation."""
    return json.dumps(api.get_openapi_schema(), indent=1, ensure_ascii=False) + "\n"
