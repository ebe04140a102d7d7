"""One part in a process of its own: `python -m tests.bench.child PART FILE`."""

import importlib
import json
import sys
from pathlib import Path

import django
from asgiref.sync import async_to_sync


def main(part: str, result: Path) -> None:
    """Measure, and leave the rows in a file; what is printed is for people.

    Async is entered as a worker enters it, so database work comes back to this thread.
    """
    django.setup()
    module, function = part.split(":")
    measure = getattr(importlib.import_module(f"tests.bench.parts.{module}"), function)
    rows = async_to_sync(measure)()
    result.write_text(json.dumps([row.to_dict() for row in rows]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
