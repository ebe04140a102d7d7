"""The state table: glyph, word and hue of every state a page can show, declared once."""

from dataclasses import dataclass
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString

from sessions_app.templatetags.inline import draw

register = template.Library()


@dataclass(frozen=True, slots=True)
class Look:
    """How one state is shown: the silhouette alone must tell it."""

    glyph: str
    word: str
    hue: str


IDLE = Look("g-idle", "Idle", "idle")
RUNNING = Look("g-live", "Running", "live")
WAITING = Look("g-waiting", "Waiting", "wait")
QUEUED = Look("g-queued", "Queued", "idle")
PAUSED = Look("g-paused", "Paused", "held")
FAILED = Look("g-failed", "Failed", "bad")
DONE = Look("g-done", "Completed", "good")
CANCELLED = Look("g-cancelled", "Cancelled", "idle")

STATES: dict[str, Look] = {
    "idle": IDLE,
    "queued": QUEUED,
    "running": RUNNING,
    "waiting": WAITING,
    "pausing": Look("g-cancelling", "Pausing", "live"),
    "paused": PAUSED,
    "cancelling": Look("g-cancelling", "Cancelling", "live"),
    "interrupting": Look("g-cancelling", "Interrupting", "live"),
    "completed": DONE,
    "done": DONE,
    "failed": FAILED,
    "error": FAILED,
    "poison": Look("g-failed", "Gave up after repeated crashes", "bad"),
    "cancelled": CANCELLED,
    "interrupted": Look("g-cancelled", "Interrupted", "held"),
    "suspended": Look("g-paused", "Suspended", "idle"),
    "lost": Look("g-stalled", "Lost", "bad"),
    "stalled": Look("g-stalled", "Stalled", "bad"),
    "stopped": Look("g-held", "Stopped", "held"),
    "held": Look("g-held", "Held", "held"),
    "max_iterations": Look("g-stalled", "Stopped at the step limit", "wait"),
    "all_denied": Look("g-deny", "Every call denied", "bad"),
    "reconcile": Look("g-unconfirmed", "Outcome unknown", "wait"),
    "unconfirmed": Look("g-unconfirmed", "Not confirmed", "wait"),
    # waits, interactions
    "approval": Look("g-waiting", "Waiting for approval", "wait"),
    "question": Look("g-waiting", "Waiting for an answer", "wait"),
    "external": Look("g-waiting", "Waiting for an external result", "wait"),
    "definition": Look("g-waiting", "Waiting for its agent definition", "wait"),
    "budget": Look("g-waiting", "Waiting for budget", "wait"),
    "pending": Look("g-waiting", "Pending", "wait"),
    "approved": Look("g-done", "Approved", "good"),
    "answered": Look("g-done", "Answered", "good"),
    "denied": Look("g-deny", "Denied", "bad"),
    "expired": Look("clock", "Expired", "idle"),
    # controls
    "requested": Look("g-unconfirmed", "Requested", "live"),
    "delivered": Look("g-unconfirmed", "Delivered", "live"),
    "acknowledged": Look("g-unconfirmed", "Acknowledged", "live"),
    "effective": Look("g-done", "Effective", "good"),
    "refused": Look("g-deny", "Refused", "bad"),
    # tool results
    "success": Look("g-done", "Done", "good"),
    "submitted": Look("g-live", "Submitted", "live"),
    "finished": Look("g-done", "Finished", "good"),
    "in_progress": Look("g-live", "In progress", "live"),
    "asking": Look("g-waiting", "Asking", "wait"),
    "allowed": Look("g-done", "Allowed", "good"),
    # requirements and checks of a task
    "candidate": Look("g-question", "Candidate", "wait"),
    "confirmed": Look("g-done", "Confirmed", "good"),
    "rejected": Look("g-deny", "Rejected", "bad"),
    "passed": Look("g-done", "Passed", "good"),
    "stale": Look("g-stalled", "Stale", "wait"),
    # tokens, accounts
    "active": Look("g-done", "Active", "good"),
    "revoked": Look("g-deny", "Revoked", "idle"),
    "inactive": Look("g-deny", "Deactivated", "idle"),
    # audit outcomes
    "system": Look("admin", "System", "idle"),
}


def look(state: object) -> Look:
    """Find how a state is shown; an unknown one keeps its own word and claims nothing."""
    name = str(state or "idle")
    return STATES.get(name) or Look("g-pending", name.replace("_", " ").capitalize(), "idle")


@register.simple_tag
def state(value: object, *, fill: bool = False, word: str = "") -> SafeString:
    """Show a state as glyph, word and colour; `fill` for the one in a page's header."""
    shown = look(value)
    return _drawn(shown, word or shown.word, fill=fill)


@lru_cache(maxsize=256, typed=True)
def _drawn(shown: Look, word: str, *, fill: bool) -> SafeString:
    """A list shows few different states many times."""
    return draw("_state.html", {"look": shown, "word": word, "fill": fill})


@register.filter
def hue(value: object) -> str:
    """Name the hue of a state, for a row that carries it as a class."""
    return look(value).hue


@register.filter
def word(value: object) -> str:
    """Name a state in words, for a title or an accessible name."""
    return look(value).word
