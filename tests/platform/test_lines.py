"""Which lines of a child's log are repeated on the terminal, and as what."""

import json

import pytest

from agentadmin.supervisor.child import TROUBLE
from agentadmin.supervisor.lines import trouble_of

TRACE = "Traceback (most recent call last):\n  File …\nValueError: no such thing"


def line(**fields: str) -> str:
    return json.dumps({"time": "2026-12-01T12:00:00.000Z", "logger": "a.b", **fields})


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (line(level="WARNING", message="Redis is away"), "WARNING Redis is away"),
        (
            line(level="ERROR", message="it failed", exception=TRACE),
            "ERROR it failed ValueError: no such thing",
        ),
        (line(level="INFO", message="an ERROR was mended"), None),
        ("[WARNING] a program of its own format", "[WARNING] a program of its own format"),
        ("[INFO] Started worker-1", None),
        ('{"level": "ERROR", "cut off', '{"level": "ERROR", "cut off'),
        ("{}", None),
    ],
)
def test_trouble_is_told_as_a_person_reads_it(written: str, told: str | None) -> None:
    assert trouble_of(written, TROUBLE) == told
