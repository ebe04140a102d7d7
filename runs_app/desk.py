"""The desk of one held thread: its lease, the controls that came in, the run they are for."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from django.db import transaction

from agentadmin.engine.agents.interrupt import InterruptControl, InterruptKind, InterruptSource
from agentadmin.engine.messages import Msg
from agentadmin.engine.state import codec
from runs_app.recorder import Recorder
from runs_app.stream import published
from runs_app.verdicts import Verdict, verdicts
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
    def steers(self) -> list[ControlRequest]:
        """What the present run is to be told."""
        return [c for c in self.controls if self._steers(c)]

    def _steers(self, request: ControlRequest) -> bool:
        return request.kind == ControlKind.STEER and request.turn_id == self._turn_id

    def heard(self) -> list[ControlRequest]:
        """What the present run obeys at its next safe point: it knows, and goes on until then."""
        if self._control is None:
            return []
        later = {ControlKind.PAUSE, ControlKind.STEER}
        return [c for c in (*self.stops, *self.steers) if c.kind in later]

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
        """What the commit of this batch means for the run's stops and for what it is told."""
        return verdicts(batch, self._turn_id, self.stops, self.steers)


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
