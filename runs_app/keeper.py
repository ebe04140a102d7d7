"""The keeper: one thread per worker process that renews leases, carries controls, and sweeps.

It never touches a run's state: it prolongs what is held, wakes runs through their thread-safe
control, and dispatches what nobody works on. Its database connection is its own.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import close_old_connections, connections
from redis.exceptions import RedisError

from agentadmin.engine.agents.interrupt import InterruptSource
from agentadmin.engine.clock import now
from agentadmin.redis import commands_sync
from runs_app.claims import BUSY_GRACE, GRACE, any_stranded, renew_all, take_stranded
from runs_app.dispatch import dispatch, has_backlog
from runs_app.jobs.runner import sweep_jobs
from runs_app.services.expiring import expire_overdue
from sessions_app import mailbox
from sessions_app.states import ControlState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis.client import PubSub

    from runs_app.desk import Desk

log = logging.getLogger(__name__)

POLL = 1.0
"""Seconds between looks into the mailbox when no hint comes."""
RECONNECT = 2.0
TICK = 0.25
"""The longest wait for a hint, so that a stop or a due renewal is not kept waiting."""


@dataclass(slots=True)
class Due:
    """When something is to be done next, by the monotonic clock."""

    every: float
    at: float = 0.0

    def now(self) -> bool:
        """Whether it is time; if so the next time is set."""
        moment = time.monotonic()
        if moment < self.at:
            return False
        self.at = moment + self.every
        return True


class Keeper:
    """Knows every desk of this process."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.stopping = False
        self._desks: dict[str, Desk] = {}
        self._lock = Lock()
        self._stop = Event()
        self._thread: Thread | None = None
        self._hints: PubSub | None = None
        self._reconnect = Due(RECONNECT)

    # --- Desks, from the runs' threads ----------------------------------------------------------

    @contextmanager
    def holding(self, desk: Desk) -> Iterator[None]:
        """While the block runs, the desk's lease is renewed and its controls are watched."""
        with self._lock:
            self._desks[desk.ref.id] = desk
        try:
            yield
        finally:
            with self._lock:
                # A released thread may be on another desk of this process by now.
                if self._desks.get(desk.ref.id) is desk:
                    del self._desks[desk.ref.id]

    def _held(self) -> dict[str, Desk]:
        with self._lock:
            return dict(self._desks)

    # --- Life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin; calling it again changes nothing."""
        with self._lock:
            if self._thread is not None:
                return
            self._stop.clear()
            self.stopping = False
            self._thread = Thread(target=self._live, name="keeper", daemon=True)
        self._thread.start()

    def shut_down(self) -> None:
        """Admit nothing more and have every run save and let go; leases go on until they have."""
        self.stopping = True
        for desk in self._held().values():
            desk.stop(InterruptSource.SYSTEM)

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout=2 * TICK + 1)

    def _live(self) -> None:
        renew, poll, sweep = Due(settings.LEASE.renewal), Due(POLL), Due(settings.LEASE.sweep)
        try:
            while not self._stop.is_set():
                self._guarded(renew, poll, sweep)
                if self._wait_for_hint(min(d.at for d in (renew, poll, sweep))):
                    poll.at = 0.0
        finally:
            if self._hints is not None:
                self._hints.close()
            connections.close_all()

    def _guarded(self, renew: Due, poll: Due, sweep: Due) -> None:
        """One round; a database that is away is tried again, leases meanwhile run out."""
        try:
            if renew.now():
                self.renew()
            if poll.now():
                self.carry_controls()
            if sweep.now() and not self.stopping:
                self.sweep()
        except Exception:
            # Whatever it was, leases must go on being renewed: it is tried again.
            log.exception("the keeper failed")
            close_old_connections()
            self._stop.wait(TICK)

    # --- The three duties -----------------------------------------------------------------------

    def renew(self) -> None:
        """Prolong every lease of this process; a run whose lease is gone is stopped."""
        held = self._held()
        if not held:
            return
        ours = renew_all({id_: d.lease.epoch for id_, d in held.items()}, settings.LEASE.seconds)
        for id_ in held.keys() - ours:
            held[id_].stop(InterruptSource.FENCED)

    def carry_controls(self) -> None:
        """Bring new controls to their desks; the run is woken before the row says so."""
        held = self._held()
        if not held:
            return
        controls = mailbox.open_controls(held.keys())
        # Before any run is woken: none may acknowledge earlier than it was told.
        read_at = now()
        for id_, desk in held.items():
            desk.receive([c for c in controls if str(c.thread_id) == id_])
        fresh = {c.id for c in controls if c.state == ControlState.REQUESTED}
        if fresh:
            mailbox.deliver(fresh, read_at)
        known = [c.id for desk in held.values() for c in desk.heard()]
        for control in controls:
            if control.id in known and control.state != ControlState.ACKNOWLEDGED:
                mailbox.acknowledge(control.id)

    def sweep(self) -> None:
        """Dispatch the threads that could go on and that nobody holds, and the jobs likewise."""
        sweep_jobs()
        expire_overdue()
        if not any_stranded():
            return
        for thread_id in take_stranded(BUSY_GRACE if has_backlog() else GRACE):
            log.info("thread %s is dispatched again", thread_id)
            dispatch(thread_id)

    # --- Hints ----------------------------------------------------------------------------------

    def _wait_for_hint(self, until: float) -> bool:
        """Wait for the next duty, or for word of a new control on a thread of ours."""
        seconds = min(max(until - time.monotonic(), 0.0), TICK)
        hints = self._subscribed()
        if hints is None:
            self._stop.wait(seconds)
            return False
        try:
            message = hints.get_message(timeout=seconds)
        except (RedisError, OSError) as error:
            log.warning("no hints about controls: %s", error)
            self._hints = None
            return False
        return bool(message) and message["data"].decode() in self._desks

    def _subscribed(self) -> PubSub | None:
        """The subscription; without Redis the poll alone carries controls."""
        if self._hints is None and self._reconnect.now():
            try:
                hints: PubSub = commands_sync().pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
                hints.subscribe(mailbox.HINTS)
                self._hints = hints
            except (RedisError, OSError) as error:
                log.warning("no hints about controls: %s", error)
        return self._hints


KEEPER = Keeper()
"""This process's keeper: tasks hold desks on it, the worker's signals start and stop it."""
