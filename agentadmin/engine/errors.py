"""Every error of AgentAdmin, one tree; `code` is what a caller may rely on.

AgentAdminError
├── InvalidInput              invalid_input
│   ├── DecodeError           invalid_document
│   ├── InvalidOperation      invalid_operation
│   ├── MissingReason         missing_reason
│   ├── BadCursor             bad_cursor
│   ├── ForeignCursor         foreign_cursor
│   ├── TooDeep               too_deep
│   └── TooLarge              too_large
├── NotFound                  not_found
├── Forbidden                 forbidden
├── NotAuthenticated          not_authenticated
├── StepUpRequired            step_up_required
├── Conflict                  conflict
│   ├── StaleVersion          stale_version
│   ├── ThreadBusy            thread_busy
│   ├── InteractionPending    interaction_pending
│   ├── NeedsReconcile        needs_reconcile
│   ├── IdempotencyMismatch   idempotency_mismatch
│   ├── AlreadyDecided        already_decided
│   ├── SessionExists         session_exists
│   ├── SessionErased         session_erased
│   ├── NoActiveRun           no_active_run
│   ├── CursorAhead           cursor_ahead
│   ├── RunIdReused           run_id_reused
│   ├── StaleTasks            stale_tasks
│   ├── TurnFinished          turn_finished
│   ├── TurnPaused            turn_paused
│   ├── StaleRevision         stale_revision
│   ├── InputPending          input_pending
│   └── CallHashMismatch      call_hash_mismatch
├── Fenced                    fenced
├── StateUnreadable           state_unreadable
├── ModelError                model_error
│   └── ContextOverflow       context_overflow
├── ToolError                 tool_error
├── ShuttingDown              shutting_down
└── RateLimited               rate_limited
"""

# The names say what happened, not that it is an error.
# ruff: noqa: N818

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from agentadmin.engine.clock import iso

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class AgentAdminError(Exception):
    """Anything that AgentAdmin refuses or fails at, with a stable code."""

    code: ClassVar[str] = "error"
    default_detail: ClassVar[str] = "Something went wrong."

    def __init__(self, detail: str = "") -> None:
        self.detail = detail or self.default_detail
        super().__init__(self.detail)

    def extra(self) -> dict[str, Any]:
        """What the problem JSON carries besides code and detail."""
        return {}


class InvalidInput(AgentAdminError):
    """The caller's data is wrong; `path` names the field."""

    code = "invalid_input"
    default_detail = "The input is not valid."

    def __init__(self, detail: str = "", *, path: str = "") -> None:
        super().__init__(detail)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}" if self.path else self.detail

    def extra(self) -> dict[str, Any]:
        return {"path": self.path} if self.path else {}

    def under(self, prefix: str) -> Self:
        """The same error, its path seen from the enclosing value at `prefix`."""
        if not prefix or not self.path:
            self.path = prefix or self.path
        elif self.path.startswith("["):
            self.path = prefix + self.path
        else:
            self.path = f"{prefix}.{self.path}"
        return self


class DecodeError(InvalidInput):
    """A document is not JSON, or not what its format says."""

    code = "invalid_document"
    default_detail = "The document cannot be read."


class InvalidOperation(InvalidInput):
    """One operation of an update is wrong; `index` says which."""

    code = "invalid_operation"
    default_detail = "The operation is not valid."

    def __init__(self, detail: str = "", *, index: int = 0, path: str = "") -> None:
        super().__init__(detail, path=path)
        self.index = index

    def extra(self) -> dict[str, Any]:
        return {"index": self.index, **super().extra()}


class MissingReason(InvalidInput):
    """An administrative change came without saying why."""

    code = "missing_reason"
    default_detail = "A reason is needed for this change."

    def __init__(self, detail: str = "", *, path: str = "reason") -> None:
        super().__init__(detail, path=path)


class BadCursor(InvalidInput):
    """A cursor is malformed."""

    code = "bad_cursor"
    default_detail = "The cursor is malformed."


class ForeignCursor(InvalidInput):
    """A cursor belongs to another thread."""

    code = "foreign_cursor"
    default_detail = "The cursor belongs to another thread."


class TooDeep(InvalidInput):
    """A JSON value nests deeper than the limit."""

    code = "too_deep"
    default_detail = "JSON may nest at most 1000 levels."


class TooLarge(InvalidInput):
    """A body or value is larger than the limit."""

    code = "too_large"
    default_detail = "The body is too large."


class NotFound(AgentAdminError):
    """There is no such object, or the caller may not know that there is."""

    code = "not_found"
    default_detail = "There is no such object."


class Forbidden(AgentAdminError):
    """The caller lacks a permission."""

    code = "forbidden"

    def __init__(self, permission: str, detail: str = "") -> None:
        super().__init__(detail or f"This needs the permission {permission}.")
        self.permission = permission

    def extra(self) -> dict[str, Any]:
        return {"permission": self.permission}


class NotAuthenticated(AgentAdminError):
    """Nobody is signed in, or the token is not valid."""

    code = "not_authenticated"
    default_detail = "Sign in or send a valid token."


class StepUpRequired(AgentAdminError):
    """Widening permissions needs a fresh sign-in or a token scope."""

    code = "step_up_required"
    default_detail = "Widening permissions needs a fresh sign-in."


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


class Fenced(AgentAdminError):
    """A writer was overtaken by its successor; never the caller's fault."""

    code = "fenced"
    default_detail = "Another worker has taken over this thread."


class StateUnreadable(AgentAdminError):
    """Stored state cannot be read; the stored bytes are left as they are."""

    code = "state_unreadable"
    default_detail = "The stored state cannot be read; it was left untouched."


class ModelError(AgentAdminError):
    """A model provider failed; `retryable` says whether trying again may help.

    `retry_after` is how many seconds the provider asked to be left alone.
    """

    code = "model_error"
    default_detail = "The model failed."

    def __init__(
        self, detail: str = "", *, retryable: bool, retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.retryable = retryable
        self.retry_after = retry_after

    def extra(self) -> dict[str, Any]:
        return {"retryable": self.retryable}


class ContextOverflow(ModelError):
    """The request was longer than the model takes; the same one will never fit."""

    code = "context_overflow"
    default_detail = "The conversation is too long for the model."

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail, retryable=False)


class ToolError(AgentAdminError):
    """A tool failed; the loop turns it into an error result."""

    code = "tool_error"
    default_detail = "The tool failed."


class ShuttingDown(AgentAdminError):
    """The process admits no new work."""

    code = "shutting_down"
    default_detail = "The system is shutting down; please retry."


class RateLimited(AgentAdminError):
    """The caller sent too much in too short a time."""

    code = "rate_limited"

    def __init__(self, retry_after: float = 1.0, detail: str = "") -> None:
        super().__init__(detail or f"Too many requests; retry in {retry_after:g} s.")
        self.retry_after = retry_after

    def extra(self) -> dict[str, Any]:
        return {"retry_after": self.retry_after}
