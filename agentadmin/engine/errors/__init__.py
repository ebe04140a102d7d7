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

from __future__ import annotations

from agentadmin.engine.errors.base import (
    AgentAdminError,
)
from agentadmin.engine.errors.conflicts import (
    AlreadyDecided,
    CallHashMismatch,
    Conflict,
    CursorAhead,
    IdempotencyMismatch,
    InputPending,
    InteractionPending,
    NeedsReconcile,
    NoActiveRun,
    RunIdReused,
    SessionErased,
    SessionExists,
    StaleRevision,
    StaleTasks,
    StaleVersion,
    ThreadBusy,
    TurnFinished,
    TurnPaused,
)
from agentadmin.engine.errors.failing import (
    ContextOverflow,
    Fenced,
    Forbidden,
    ModelError,
    NotAuthenticated,
    NotFound,
    RateLimited,
    ShuttingDown,
    StateUnreadable,
    StepUpRequired,
    ToolError,
)
from agentadmin.engine.errors.invalid import (
    BadCursor,
    DecodeError,
    ForeignCursor,
    InvalidInput,
    InvalidOperation,
    MissingReason,
    TooDeep,
    TooLarge,
)

__all__ = [
    "AgentAdminError",
    "AlreadyDecided",
    "BadCursor",
    "CallHashMismatch",
    "Conflict",
    "ContextOverflow",
    "CursorAhead",
    "DecodeError",
    "Fenced",
    "Forbidden",
    "ForeignCursor",
    "IdempotencyMismatch",
    "InputPending",
    "InteractionPending",
    "InvalidInput",
    "InvalidOperation",
    "MissingReason",
    "ModelError",
    "NeedsReconcile",
    "NoActiveRun",
    "NotAuthenticated",
    "NotFound",
    "RateLimited",
    "RunIdReused",
    "SessionErased",
    "SessionExists",
    "ShuttingDown",
    "StaleRevision",
    "StaleTasks",
    "StaleVersion",
    "StateUnreadable",
    "StepUpRequired",
    "ThreadBusy",
    "TooDeep",
    "TooLarge",
    "ToolError",
    "TurnFinished",
    "TurnPaused",
]
