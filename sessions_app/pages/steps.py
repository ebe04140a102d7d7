"""A control's way as steps: requested, delivered, acknowledged, effective or refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import now
from agentadmin.engine.state import codec
from sessions_app.states import OPEN_CONTROLS, ControlKind, ControlState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sessions_app.models import ControlRequest

LATE = timedelta(seconds=5)
NEWS = timedelta(seconds=10)
"""How long a finished act shows its steps; afterwards it is one line that opens."""
_WORDS = (("delivered_at", "Delivered"), ("acknowledged_at", "Acknowledged"))
_ACTS = {
    ControlKind.INTERRUPT: "Interrupt",
    ControlKind.CANCEL: "Cancel",
    ControlKind.PAUSE: "Pause",
    ControlKind.STEER: "Steering",
    ControlKind.EDIT: "Change of state",
}


@dataclass(frozen=True, slots=True)
class ShownControl:
    """A control with its steps, and whether it may still change."""

    control: ControlRequest
    title: str
    steps: list[dict[str, Any]]
    is_open: bool
    refusal: str
    effects: list[str]
    is_past: bool
    """Whether it ended a while ago."""


def shown_controls(controls: Iterable[ControlRequest]) -> list[ShownControl]:
    """The controls as the page shows them."""
    return [shown_control(control) for control in controls]


def shown_control(control: ControlRequest) -> ShownControl:
    """One control with its steps."""
    refused = control.state == ControlState.REFUSED
    result = codec.loads(control.result)
    told = result if isinstance(result, dict) else {}
    return ShownControl(
        control,
        _title(control),
        steps_of(control, now()),
        control.state in OPEN_CONTROLS,
        str(told.get("detail") or told.get("code") or "refused") if refused else "",
        [str(line) for line in told.get("effects") or ()],
        control.effective_at is not None and control.effective_at + NEWS <= now(),
    )


def _title(control: ControlRequest) -> str:
    """What was asked and how it went; the name of who asked follows."""
    act = _ACTS.get(ControlKind(control.kind), control.kind)
    if control.state in OPEN_CONTROLS:
        return f"{act} requested by"
    ended = "refused" if control.state == ControlState.REFUSED else "took effect"
    return f"{act} {ended}, requested by"


def steps_of(control: ControlRequest, at: datetime) -> list[dict[str, Any]]:
    """The four steps; the first that has not happened says how long it has waited."""
    steps: list[dict[str, Any]] = [_done("Requested", control.requested_at, None)]
    last = control.requested_at
    for field, word in _WORDS:
        moment = getattr(control, field)
        steps.append(_step(word, moment, last, at, waits=steps[-1]["state"] == "done"))
        last = moment or last
    steps.append(_final(control, last, at, waits=steps[-1]["state"] == "done"))
    return steps


def _final(control: ControlRequest, last: datetime, at: datetime, *, waits: bool) -> dict[str, Any]:
    if control.state == ControlState.REFUSED:
        return {"word": "Refused", "at": control.effective_at, "state": "refused"}
    return _step("Effective", control.effective_at, last, at, waits=waits)


def _step(
    word: str, moment: datetime | None, last: datetime, at: datetime, *, waits: bool
) -> dict[str, Any]:
    if moment is not None:
        return _done(word, moment, (moment - last) / timedelta(seconds=1))
    if not waits:
        return {"word": word, "at": None, "state": "next", "note": "not yet"}
    waited = max(timedelta(), at - last)
    note = f"waiting {waited / timedelta(seconds=1):.0f} s"
    return {"word": word, "at": None, "state": "late" if waited > LATE else "now", "note": note}


def _done(word: str, moment: datetime, since: float | None) -> dict[str, Any]:
    return {"word": word, "at": moment, "state": "done", "since": since}
