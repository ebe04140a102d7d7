"""What a run's commit means for the commands that were meant for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import TURN_ENDS, FactType
from runs_app.states import RunStatus
from sessions_app.states import ControlKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentadmin.engine.journal.base import Batch
    from sessions_app.models import ControlRequest

FINISHED = "turn_finished"
TOO_LATE = "The run ended before it was told."
NO_STEP_LEFT = "The run ended before its next step, so there was nothing left to pause."
UNREAD = "The turn ended before it had read this."
KEPT = "The turn does not run; it reads this when it goes on."
_PARKING = frozenset({FactType.TURN_SUSPENDED, FactType.TURN_PAUSED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a control: effective, or refused with a code."""

    control: ControlRequest
    result: dict[str, Any]
    refused_code: str | None = None


def verdicts(
    batch: Batch,
    turn_id: str | None,
    stops: Iterable[ControlRequest],
    steers: Iterable[ControlRequest],
) -> list[Verdict]:
    """The controls that this batch settles; the others stay open."""
    types = {fact.type: fact.payload for fact in batch.facts}
    taken = {f.payload["control_id"] for f in batch.facts if f.type == FactType.INPUT_APPLIED}
    ended, parked = bool(TURN_ENDS & types.keys()), bool(_PARKING & types.keys())
    found: list[Verdict | None] = []
    for request in steers:
        if str(request.id) in taken:
            found.append(Verdict(request, {"turn_id": turn_id, "taken": True}))
        elif ended or parked:
            found.append(_untaken(request, ended=ended))
    if ended or parked:
        result = {"turn_id": turn_id, "run_status": types.get(FactType.RUN_END, {}).get("status")}
        found += [_of_stop(request, types.keys(), result) for request in stops]
    return [verdict for verdict in found if verdict is not None]


def _untaken(request: ControlRequest, *, ended: bool) -> Verdict:
    """The text stands in the journal: a parked turn reads it later, one that ended never does."""
    if ended:
        return Verdict(request, {"turn_id": request.turn_id, "detail": UNREAD}, FINISHED)
    return kept(request)


def kept(request: ControlRequest) -> Verdict:
    """Told to a turn that is parked by now."""
    return Verdict(request, {"turn_id": request.turn_id, "taken": False, "detail": KEPT})


def _of_stop(
    request: ControlRequest, types: Iterable[str], result: dict[str, Any]
) -> Verdict | None:
    kinds = set(types)
    if request.kind == ControlKind.INTERRUPT:
        done, code = result["run_status"] == RunStatus.INTERRUPTED, "no_active_run"
    else:
        cancels = request.kind == ControlKind.CANCEL
        done = (FactType.TURN_CANCELLED if cancels else FactType.TURN_PAUSED) in kinds
        code = FINISHED
        if not done and not TURN_ENDS & kinds:
            return None  # parked before it heard: the executor settles the parked turn
    if done:
        return Verdict(request, result)
    return Verdict(request, {**result, "detail": too_late(request)}, code)


def too_late(request: ControlRequest) -> str:
    """Why nothing was stopped; a run may well have heard of a pause and had no step left."""
    return NO_STEP_LEFT if request.kind == ControlKind.PAUSE else TOO_LATE
