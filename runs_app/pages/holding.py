"""Pausing, resuming and steering a turn as the one dialog."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from runs_app.pages.stopping import NOTED, Stop
from runs_app.services.pause import pause_turn, resume_turn
from runs_app.services.steer import steer_turn
from runs_app.states import GOING
from sessions_app.pages.answers import Notice
from sessions_app.pages.frame import tab_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread

PAUSE_REASONS = ("Wait for a decision", "Look at it first", "Something else first")
RESUME_REASONS = ("The decision is made", "Looked at, it may go on", "Asked by its owner")
BLANK = "Write what the agent should know."
_LAST_STEP = (
    "The answer being written is finished first: a run that has no step after it ends, unpaused."
)
_STAYS = ["every message", "open questions, which can be answered", "rules, tasks and plan"]


def pausing(actor: Actor, turn: Turn, given: Mapping[str, str]) -> Stop:
    """Hold a turn at its next safe point."""

    def act(reason: str) -> Notice:
        receipt = pause_turn(actor=actor, turn_id=turn.id, reason=reason)
        if receipt.control_id:
            return NOTED
        return Notice("good", "Paused.", "The turn goes on when somebody resumes it.")

    name = turn.thread.session.session_id
    words = {
        "title": f"Pause a turn of {name}",
        "lead": "A pause takes effect at the run's next step; a tool that runs is never cut off. "
        "The turns behind it wait.",
        "note": _LAST_STEP if turn.state in GOING else "",
        "button": "Pause the turn",
        "cancel_label": "Let it run",
        "danger": False,
        "leaves_title": "Held",
        "leaves": [turn.input_preview[:160] or "this turn", "the queue behind it"],
        "stays_title": "Stays",
        "stays": _STAYS,
        "templates": PAUSE_REASONS,
    }
    return _stop(turn, "turn_pause", words, given, act)


def resuming(actor: Actor, turn: Turn, given: Mapping[str, str]) -> Stop:
    """Let a paused turn go on, as it was seen when the dialog opened."""
    seen = given.get("revision", "")
    revision = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else turn.revision

    def act(reason: str) -> Notice:
        receipt = resume_turn(actor=actor, turn_id=turn.id, revision=revision, reason=reason)
        where = {
            "queued": "It is back in its place in the queue.",
            "waiting": "It waits for its answers again.",
        }
        return Notice("good", "Resumed.", where.get(receipt.state or "", "The turn goes on."))

    name = turn.thread.session.session_id
    words = {
        "title": f"Resume a turn of {name}",
        "lead": "The turn goes on from what was observed when it was paused; nothing is run twice.",
        "button": "Resume the turn",
        "cancel_label": "Keep it paused",
        "danger": False,
        "leaves_title": "Goes on",
        "leaves": [turn.input_preview[:160] or "this turn", "the queue behind it"],
        "leaves_css": "changes",
        "leaves_icon": "arrow",
        "stays_title": "Stays",
        "stays": _STAYS,
        "templates": RESUME_REASONS,
        "hidden": [("revision", str(turn.revision))],
        "note": f"Based on revision {turn.revision} of the turn.",
    }
    return _stop(turn, "turn_resume", words, given, act)


def _stop(turn: Turn, name: str, words: dict[str, Any], given: Mapping[str, str], act: Any) -> Stop:
    url = reverse(name, args=[turn.id])
    return Stop(turn.thread, url, words, given.get("reason", ""), act, bool(given))


@dataclass(slots=True)
class Telling:
    """The dialog that tells a turn something; it needs a text and no reason."""

    actor: Actor
    turn: Turn
    given: Mapping[str, str]
    error: dict[str, str] = field(default_factory=dict)

    @property
    def thread(self) -> AgentThread:
        """The turn's thread."""
        return self.turn.thread

    @property
    def message(self) -> str:
        """What was written."""
        return self.given.get("message", "")

    @property
    def is_complete(self) -> bool:
        """Whether there is something to tell."""
        return bool(self.message.strip())

    def do(self) -> Notice:
        """Tell it. Raises what the service does."""
        key = self.given.get("request_id") or None
        receipt = steer_turn(
            actor=self.actor, turn_id=self.turn.id, input=self.message, request_id=key
        )
        if receipt.control_id:
            return NOTED
        return Notice("good", "Accepted.", "The turn reads it when it goes on.")

    def shown(self) -> dict[str, Any]:
        """The dialog's context."""
        name = self.thread.session.session_id
        blank = bool(self.given) and not self.is_complete
        return {
            "url": reverse("turn_steer", args=[self.turn.id]),
            "cancel_url": tab_url(self.thread, "conversation"),
            "cancel_label": "Say nothing",
            "version": None,
            "title": f"Steer a turn of {name}",
            "lead": "The agent reads this before its next request to the model. The turn is not "
            "done before it has.",
            "button": "Tell the turn",
            "no_reason": True,
            "fields_template": "runs/_fields_steer.html",
            "message": self.message,
            "message_error": BLANK if blank else "",
            "error": self.error or None,
        }
