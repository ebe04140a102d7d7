"""What a line of a child's log says on the terminal: log files are JSON, people are not."""

import json
import re
from typing import Any


def trouble_of(line: str, trouble: re.Pattern[str]) -> str | None:
    """The line as a person reads it, or nothing where it reports no trouble."""
    said = _fields(line)
    if said is None:
        return line if trouble.search(line) else None
    level = str(said.get("level", ""))
    if not trouble.search(level):
        return None
    failure = str(said.get("exception", "")).strip().rpartition("\n")[2]
    return " ".join(filter(None, (level, str(said.get("message", "")), failure)))


def _fields(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
