"""What the present state does not allow."""

# The names say what happened, not that it is an error.
# ruff: noqa: N818

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.clock import iso
from agentadmin.engine.errors.base import AgentAdminError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Conflict(AgentAdminError):
    """The request is right in itself, but not in the present state."""

    code = "conflict"
    default_detail = "The present state does not allow this."


class StaleVersion(Conflict):
    """The state is no longer at the version that the caller read."""

    code = "stale_version"

    def __init__(self, current: int, diff: dict[str, Any] | None = None) -> None:
        super().__init__(f"The state has moved on to version {current}.")
        self.current = current
        self.diff = diff or {}

    def extra(self) -> dict[str, Any]:
        return {"current_version": self.current, "diff": self.diff}


class ThreadBusy(Conflict):
    """A run holds the thread."""

    code = "thread_busy"

    def __init__(self, run_id: str | None) -> None:
        super().__init__(f"{f'Run {run_id}' if run_id else 'A writer'} is working on this thread.")
        self.run_id = run_id

    def extra(self) -> dict[str, Any]:
        return {"run_id": self.run_id}


class InteractionPending(Conflict):
    """The thread waits for answers that the change would orphan."""

    code = "interaction_pending"

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = list(ids)
        super().__init__(f"The thread waits for an answer: {', '.join(self.ids)}.")

    def extra(self) -> dict[str, Any]:
        return {"ids": self.ids}


class NeedsReconcile(Conflict):
    """The outcome of dispatched tool calls is unknown."""

    code = "needs_reconcile"

    def __init__(self, call_ids: Iterable[str]) -> None:
        self.call_ids = list(call_ids)
        super().__init__(f"Unknown outcome of tool calls: {', '.join(self.call_ids)}.")

    def extra(self) -> dict[str, Any]:
        return {"call_ids": self.call_ids}


class IdempotencyMismatch(Conflict):
    """A request id was used before with another body."""

    code = "idempotency_mismatch"
    default_detail = "This request id was used with another body."


class AlreadyDecided(Conflict):
    """Somebody else has answered; without a name it was the product itself, as time ran out."""

    code = "already_decided"

    def __init__(self, by: str, at: datetime | str) -> None:
        self.by = by or "the product"
        self.at = at if isinstance(at, str) else iso(at)
        super().__init__(f"{self.by} decided this at {self.at}.")

    def extra(self) -> dict[str, Any]:
        return {"by": self.by, "at": self.at}


class SessionExists(Conflict):
    """A session with this identity is there already."""

    code = "session_exists"

    def __init__(self, session_id: str) -> None:
        super().__init__("A session with this identity exists.")
        self.session_id = session_id

    def extra(self) -> dict[str, Any]:
        return {"session_id": self.session_id}


class SessionErased(Conflict):
    """The session's content was erased, or is being erased; only its proofs can be read."""

    code = "session_erased"
    default_detail = "This session is erased or about to be; it takes no command."


class NoActiveRun(Conflict):
    """There is nothing to interrupt."""

    code = "no_active_run"

    def __init__(self, queued_turns: int = 0) -> None:
        super().__init__("Nothing is running.")
        self.queued_turns = queued_turns

    def extra(self) -> dict[str, Any]:
        return {"queued_turns": self.queued_turns}


class CursorAhead(Conflict):
    """A cursor lies beyond the head of its thread."""

    code = "cursor_ahead"
    default_detail = "The cursor lies beyond the head."


class RunIdReused(Conflict):
    """A run id is in the journal already."""

    code = "run_id_reused"
    default_detail = "This run id was used before."


class StaleTasks(Conflict):
    """The tasks have changed since the caller read their revision."""

    code = "stale_tasks"

    def __init__(self, current: int) -> None:
        super().__init__(f"The tasks are at revision {current} now.")
        self.current = current

    def extra(self) -> dict[str, Any]:
        return {"revision": self.current}


class TurnFinished(Conflict):
    """The turn has ended and cannot be changed or resumed."""

    code = "turn_finished"
    default_detail = "The turn has ended."


class TurnPaused(Conflict):
    """The turn was paused in the moment in which a run was to begin on it."""

    code = "turn_paused"
    default_detail = "The turn is paused."


class StaleRevision(Conflict):
    """A turn has moved on since the caller saw it; carries where it stands now."""

    code = "stale_revision"

    def __init__(self, current: int, state: str) -> None:
        self.current = current
        self.state = state
        super().__init__(f"The turn is at revision {current} now, and {state}.")

    def extra(self) -> dict[str, Any]:
        return {"revision": self.current, "state": self.state}


class InputPending(Conflict):
    """The turn was told something that it has not read: it cannot be done yet."""

    code = "input_pending"

    def __init__(self, seqs: list[int]) -> None:
        self.seqs = seqs
        super().__init__("The turn has not read everything that it was told.")

    def extra(self) -> dict[str, Any]:
        return {"seqs": self.seqs}


class CallHashMismatch(Conflict):
    """The call to be answered is not the one that the answer was given for."""

    code = "call_hash_mismatch"
    default_detail = "The call has changed since it was shown."
