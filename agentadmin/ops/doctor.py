"""The doctor: everything that the product needs, looked at from where the command runs.

Each check is a function that answers what it has found, raises `Fault` with one plain sentence, or
`Skipped` where another fault stands in its way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Fault(Exception):  # noqa: N818 - what a doctor finds is no error of the program
    """Something that has to be mended; the message is one plain sentence."""


class Skipped(Exception):  # noqa: N818 - the same
    """Nothing can be said, because of what another check has found."""


class State(StrEnum):
    """What a check came to."""

    OK = "ok"
    FAULT = "fault"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result: what was found, or the sentence that says what is wrong."""

    name: str
    state: State
    detail: str


type Check = Callable[[], str]


def examine(checks: Mapping[str, Check]) -> list[Finding]:
    """Run every check, whatever the others have found."""
    return [_examine(name, check) for name, check in checks.items()]


def _examine(name: str, check: Check) -> Finding:
    try:
        return Finding(name, State.OK, check())
    except Fault as fault:
        return Finding(name, State.FAULT, str(fault))
    except Skipped as skipped:
        return Finding(name, State.SKIPPED, str(skipped))


def faults(findings: Iterable[Finding]) -> list[str]:
    """The sentences of what is wrong."""
    return [each.detail for each in findings if each.state is State.FAULT]


def document(findings: Iterable[Finding]) -> dict[str, Any]:
    """The same for machines."""
    found = list(findings)
    return {"ok": not faults(found), "checks": [asdict(each) for each in found]}
