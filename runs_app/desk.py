"""The desk of one held thread: its lease, the controls that came in, the run they are for."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.db import transaction

from agentadmin.engine.agents.interrupt import InterruptControl, InterruptKind, InterruptSource
from agentadmin.engine.journal.facts import TURN_ENDS, FactType
from agentadmin.engine.messages import Msg
from agentadmin.engine.state import codec
from runs_app.recorder import Recorder
from runs_app.states import RunStatus
from runs_app.stream import published
from sessions_app import mailbox
from sessions_app.journal import DjangoThreadJournal
from sessions_app.states import OPEN_CONTROLS, ControlKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from agentadmin.engine.journal.base import Batch, Committed, Lease, RowAction, ThreadRef
    from sessions_app.models import ControlRequest

STOPS = {
    ControlKind.INTERRUPT: InterruptKind.INTERRUPT,
    ControlKind.CANCEL: InterruptKind.CANCEL,
    ControlKind.PAUSE: InterruptKind.PAUSE,
}
_PARKING = frozenset({FactType.TURN_SUSPENDED, FactType.TURN_PAUSED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a control: effective, or refused with a code."""

    control: ControlRequest
    result: dict[str, Any]
    refused_code: str | None = None


class Desk:
    """Shared by the run's own thread and the keeper's; the keeper only ever adds and triggers."""

    def __init__(self, ref: ThreadRef, lease: Lease) -> None:
        self.ref = ref
        self.lease = lease
        self.fenced = False
        self._lock = Lock()
        self._controls: dict[UUID, ControlRequest] = {}
        self._settled: set[UUID] = set()
        self._control: InterruptControl | None = None
        self._turn_id: str | None = None
        self._run_ids: frozenset[str] = frozenset()

    # --- The run ------------------------------------------------------------------------------

    def begin(self, control: InterruptControl, turn_id: str, run_ids: Iterable[str]) -> None:
        """A run starts: controls for its turn or for the run before it are its own."""
        with self._lock:
            self._control, self._turn_id = control, turn_id
            self._run_ids = frozenset(run_ids)
            waiting = [c for c in self._controls.values() if self._is_for_run(c)]
        for request in waiting:
            self._trigger(request)

    @contextmanager
    def parked(self, turn_id: str) -> Iterator[None]:
        """While the block ends a turn without a run, stops for it are settled by its commit."""
        with self._lock:
            self._turn_id = turn_id
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        """The run is over."""
        with self._lock:
            self._control, self._turn_id, self._run_ids = None, None, frozenset()

    # --- The keeper ---------------------------------------------------------------------------

    def receive(self, controls: Iterable[ControlRequest]) -> None:
        """Take in open controls; one that is for the present run stops it right away."""
        for request in controls:
            with self._lock:
                if request.id in self._settled:
                    # Read while the commit that settled it was on its way.
                    continue
                known = request.id in self._controls
                self._controls[request.id] = request
                mine = not known and self._is_for_run(request)
            if mine:
                self._trigger(request)

    def stop(self, source: InterruptSource) -> None:
        """Shutdown, or a lost lease."""
        if source is InterruptSource.FENCED:
            self.fenced = True
        control = self._control
        if control is not None:
            control.trigger(source)

    def _is_for_run(self, request: ControlRequest) -> bool:
        if self._turn_id is None or request.kind not in STOPS:
            return False
        if request.run_id is None and request.turn_id is None:
            return True
        return request.run_id in self._run_ids or request.turn_id == self._turn_id

    def _trigger(self, request: ControlRequest) -> None:
        control = self._control
        if control is None:
            return
        message = codec.loads(request.payload).get("message")
        control.trigger(
            kind=STOPS[ControlKind(request.kind)],
            message=Msg(message) if message else None,
            by={"name": request.actor_name},
            reason=request.reason,
        )

    # --- Settling -----------------------------------------------------------------------------

    @property
    def controls(self) -> list[ControlRequest]:
        """Every open control that is known here, oldest first."""
        with self._lock:
            return sorted(self._controls.values(), key=lambda c: (c.requested_at, c.id))

    @property
    def edits(self) -> list[ControlRequest]:
        """The edits among them."""
        return [c for c in self.controls if c.kind == ControlKind.EDIT]

    @property
    def stops(self) -> list[ControlRequest]:
        """The present run's stop requests."""
        with self._lock:
            return [c for c in self._controls.values() if self._is_for_run(c)]

    def forget(self, controls: Iterable[ControlRequest]) -> None:
        """These are settled."""
        with self._lock:
            for request in controls:
                self._controls.pop(request.id, None)
                self._settled.add(request.id)

    def keep_open(self, controls: Iterable[ControlRequest]) -> None:
        """Of these forget the settled ones: settling notes the final state on the row's object."""
        self.forget(c for c in controls if c.state not in OPEN_CONTROLS)

    def verdicts(self, batch: Batch) -> list[Verdict]:
        """What the commit of this batch means for the run's stop requests."""
        types = {fact.type: fact.payload for fact in batch.facts}
        ended = TURN_ENDS & types.keys()
        if not ended and not _PARKING & types.keys():
            return []
        status = types.get(FactType.RUN_END, {}).get("status")
        verdicts = (self._verdict(c, types.keys(), status) for c in self.stops)
        return [verdict for verdict in verdicts if verdict is not None]

    def _verdict(
        self, request: ControlRequest, types: Iterable[str], status: str | None
    ) -> Verdict | None:
        result = {"turn_id": self._turn_id, "run_status": status}
        if request.kind == ControlKind.INTERRUPT:
            done = status == RunStatus.INTERRUPTED
            code = "no_active_run"
        elif request.kind == ControlKind.CANCEL:
            done = FactType.TURN_CANCELLED in types
            if not done and not TURN_ENDS & set(types):
                return None  # parked before it heard: the executor cancels the parked turn
            code = "turn_finished"
        else:
            done = FactType.TURN_PAUSED in types
            code = "turn_finished"
        if done:
            return Verdict(request, result)
        return Verdict(request, {**result, "detail": "The run ended before it was told."}, code)


class DeskJournal(DjangoThreadJournal):
    """A run's journal: the commit that obeys a control also writes that it did."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(projector=Recorder(), published=published)
        self._desk = desk

    def commit_now(self, ref: ThreadRef, batch: Batch, rows: Sequence[RowAction] = ()) -> Committed:
        """Settle first: the commit gives the lease back only when no control is pending."""
        verdicts = self._desk.verdicts(batch)
        if not verdicts:
            return super().commit_now(ref, batch, rows)
        with transaction.atomic():
            for verdict in verdicts:
                mailbox.finish(
                    verdict.control, result=verdict.result, refused_code=verdict.refused_code
                )
            committed = super().commit_now(ref, batch, rows)
        self._desk.forget(verdict.control for verdict in verdicts)
        return committed
