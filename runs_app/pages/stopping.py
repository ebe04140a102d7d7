"""Interrupting and cancelling as the one dialog: what will happen, why, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from runs_app.services.cancel import cancel_turn
from runs_app.services.interrupt import interrupt_session
from sessions_app.pages.act_dialog import MIN_REASON, SHORT_REASON
from sessions_app.pages.answers import Notice
from sessions_app.pages.frame import tab_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread

NOTED = Notice("", "")
"""The control itself says how far it has come, and nothing is left of it once it took effect."""
STOP_REASONS = ("Wrong direction", "Runs in circles", "No longer needed", "Asked by owner")


@dataclass(slots=True)
class Stop:
    """One dialog that stops something."""

    thread: AgentThread
    url: str
    words: dict[str, Any]
    reason: str
    act: Callable[[str], Notice]
    asked: bool
    error: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether the reason is long enough for the audit."""
        return len(self.reason.strip()) >= MIN_REASON

    def do(self) -> Notice:
        """Ask for it. Raises what the service does."""
        return self.act(self.reason)

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""
        return {
            "url": self.url,
            "cancel_url": tab_url(self.thread, "conversation"),
            "version": None,
            "reason": self.reason,
            "reason_error": SHORT_REASON if self.asked and not self.is_complete else "",
            "templates": STOP_REASONS,
            "error": self.error or None,
            "danger": True,
            **self.words,
        }


def interrupting(actor: Actor, thread: AgentThread, given: Mapping[str, str]) -> Stop:
    """Stop the run at its next checkpoint; what it has said so far is kept."""
    message = given.get("message", "")

    def act(reason: str) -> Notice:
        interrupt_session(
            actor=actor,
            session=thread.session,
            thread_id=str(thread.id),
            reason=reason,
            message=message or None,
        )
        return NOTED

    words = {
        "title": f"Interrupt {thread.session.session_id}",
        "lead": "The run stops at its next checkpoint. What it has said so far is saved, and the "
        "agent answers that it was interrupted.",
        "button": f"Interrupt {thread.session.session_id}",
        "cancel_label": "Let it run",
        "leaves_title": "Stops",
        "leaves": ["the answer being written", "tools that can be stopped"],
        "stays_title": "Stays",
        "stays": ["every message, the partial answer too", "rules, tasks and plan", "the queue"],
        "fields_template": "runs/_fields_interrupt.html",
        "message": message,
    }
    url = reverse("thread_interrupt", args=[thread.id])
    return Stop(thread, url, words, given.get("reason", ""), act, bool(given))


def cancelling(actor: Actor, turn: Turn, given: Mapping[str, str]) -> Stop:
    """Give a turn up for good."""

    def act(reason: str) -> Notice:
        receipt = cancel_turn(actor=actor, turn_id=turn.id, reason=reason)
        if receipt.control_id:
            return NOTED
        return Notice("good", "Cancelled.", "The turn will not run any more.")

    name = turn.thread.session.session_id
    words = {
        "title": f"Cancel a turn of {name}",
        "lead": "The turn ends without an answer; open questions of it are withdrawn.",
        "button": "Cancel the turn",
        "cancel_label": "Keep the turn",
        "leaves_title": "Given up",
        "leaves": [turn.input_preview[:160] or "this turn", "its open questions"],
        "stays_title": "Stays",
        "stays": ["messages it has written", "what its tools already did", "the queue behind it"],
    }
    url = reverse("turn_cancel", args=[turn.id])
    return Stop(turn.thread, url, words, given.get("reason", ""), act, bool(given))
