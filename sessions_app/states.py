"""Statuses of threads, sessions and controls, with labels and order, declared once."""

from __future__ import annotations

from enum import StrEnum


class ThreadStatus(StrEnum):
    """What a thread is doing; a session shows the most urgent of its threads'."""

    IDLE = "idle"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    FAILED = "failed"


URGENCY = (
    ThreadStatus.WAITING,
    ThreadStatus.FAILED,
    ThreadStatus.RUNNING,
    ThreadStatus.PAUSED,
    ThreadStatus.QUEUED,
    ThreadStatus.IDLE,
)
"""Contract §3: the order in which threads' statuses decide their session's."""

PARKED = frozenset({ThreadStatus.WAITING, ThreadStatus.PAUSED})
"""While a thread is parked its queued turns stay where they are."""


class ControlKind(StrEnum):
    """What a control asks of a thread."""

    INTERRUPT = "interrupt"
    CANCEL = "cancel"
    PAUSE = "pause"
    STEER = "steer"
    EDIT = "edit"


class ControlState(StrEnum):
    """How far a control has come; the first three are open, the last two final."""

    REQUESTED = "requested"
    DELIVERED = "delivered"
    ACKNOWLEDGED = "acknowledged"
    EFFECTIVE = "effective"
    REFUSED = "refused"


OPEN_CONTROLS = (ControlState.REQUESTED, ControlState.DELIVERED, ControlState.ACKNOWLEDGED)


class JobKind(StrEnum):
    """What a worker does at length for a person."""

    ERASE = "erase"


class JobState(StrEnum):
    """How far a job has come; the first two are open, the others final."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


OPEN_JOBS = (JobState.QUEUED, JobState.RUNNING)
