"""Erasing a session, and stopping a job, as the one dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse

from sessions_app.pages.act_dialog import MIN_REASON, SHORT_REASON

if TYPE_CHECKING:
    from sessions_app.models import AgentSession, Job

ERASE_REASONS = ("The person asked for it", "Retention period over", "Test data")


def is_long_enough(reason: str) -> bool:
    """Whether a reason is one for the audit."""
    return len(reason.strip()) >= MIN_REASON


def erase_dialog(session: AgentSession, reason: str, *, asked: bool) -> dict[str, Any]:
    """What erasing does, before it is done."""
    return _dialog(reason, asked=asked) | {
        "url": reverse("session_erase", args=[session.id]),
        "cancel_url": reverse("session", args=[session.id]),
        "cancel_label": "Keep the session",
        "title": f"Erase {session.session_id} for good",
        "lead": "A worker takes every word out of the journal, the audit log, the live streams "
        "and the files of this session. Nobody can bring it back.",
        "button": f"Erase {session.session_id}",
        "leaves_title": "Gone",
        "leaves": [
            "every message, tool call and result",
            "summary, rules, plan, tasks and imported file",
            "who it belonged to, and its name",
            "what the audit log says of it, reasons included",
            "unfinished turns: they are cancelled",
        ],
        "stays_title": "Stays",
        "stays": [
            "that something happened, when and in what order",
            "the hashes: journal and audit log still verify",
            "a certificate of this erasure, with your name and reason",
        ],
        "templates": ERASE_REASONS,
    }


def stop_dialog(job: Job, reason: str, *, asked: bool) -> dict[str, Any]:
    """What stopping a job does."""
    return _dialog(reason, asked=asked) | {
        "url": reverse("job_stop", args=[job.id]),
        "cancel_url": reverse("job", args=[job.id]),
        "cancel_label": "Let it go on",
        "title": "Stop this job",
        "lead": "It stops before it has erased anything; the session takes commands again.",
        "button": "Stop the job",
        "leaves": ["nothing: no word has been erased yet"],
        "stays": ["the whole session", "turns that were cancelled for it stay cancelled"],
    }


def _dialog(reason: str, *, asked: bool) -> dict[str, Any]:
    error = SHORT_REASON if asked and not is_long_enough(reason) else ""
    return {"version": None, "danger": True, "reason": reason, "reason_error": error}
