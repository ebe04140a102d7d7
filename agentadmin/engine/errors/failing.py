"""What is not there, not allowed, or failed."""

# The names say what happened, not that it is an error.
# ruff: noqa: N818

from __future__ import annotations

from typing import Any

from agentadmin.engine.errors.base import AgentAdminError


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
