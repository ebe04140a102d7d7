"""What a fact that is no message says in the conversation, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import FactType
from runs_app.pages.events import text_of
from runs_app.pages.items import Mark
from sessions_app.journal.unreadable import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentadmin.engine.journal.facts import Fact

Payload = dict[str, Any]
MOST_WORDS = 300
_RESTORE = "restore of "
_REPLACED = {"clear_context": "Working context cleared", "compact": "Compacted"}


def mark_of(fact: Fact) -> Mark | None:
    """The line of a fact, or None for one that has no line."""
    make = _LINES.get(fact.type)
    if make is None or fact.erased:
        return None
    return make(fact, fact.payload)


def _line(
    fact: Fact, kind: str, text: str, level: str = "", notes: list[str] | None = None
) -> Mark:
    return Mark(fact.seq, fact.seq, fact.occurred_at, kind, text, notes or [], level)


def _replaced(fact: Fact, told: Payload) -> Mark:
    reason = str(told.get("reason") or "")
    kept = sum(_count(entry) for entry in told.get("items") or ())
    what = _REPLACED.get(reason, "Working context replaced")
    if reason.startswith(_RESTORE):
        what = f"Restored {reason.removeprefix(_RESTORE)}"
    rest = f"{kept} message{'' if kept == 1 else 's'} stay in it" if kept else "nothing stays in it"
    return _line(fact, "fold", f"{what}: {rest}, history keeps everything")


def _count(entry: Any) -> int:
    if not isinstance(entry, dict):
        return 0
    if "from" in entry and "to" in entry:
        return int(entry["to"]) - int(entry["from"]) + 1
    return 1


def _baseline(fact: Fact, told: Payload) -> Mark | None:
    source, count = str(told.get("source") or ""), told.get("count") or 0
    if source in {"", "new"}:
        return None
    origin = told.get("from")
    if source == "fork" and isinstance(origin, dict):
        place = f"version {origin.get('version')} of {origin.get('session_id')}"
        return _line(fact, "fold", f"Forked from {place}: {count} messages")
    counted = f"{count} message{'' if count == 1 else 's'}"
    return _line(fact, "fold", f"{counted} with the file’s own times. Imported from {source}")


def _recovered(fact: Fact, told: Payload) -> Mark | None:
    repairs = [r for r in told.get("repairs") or () if isinstance(r, dict)]
    if not repairs:
        return None
    notes = [f"{r.get('kind')}: {r.get('note') or r.get('call_id') or ''}" for r in repairs]
    word = "repair" if len(repairs) == 1 else "repairs"
    return _line(fact, "repair", f"{len(repairs)} {word} before the run went on", "held", notes)


def _failed(fact: Fact, told: Payload) -> Mark:
    error = told.get("error")
    known = error if isinstance(error, dict) else {}
    text = f"The turn failed: {known.get('detail') or known.get('code') or told.get('outcome')}"
    return _line(fact, "note", text, "bad")


def _cancelled(fact: Fact, told: Payload) -> Mark:
    return _line(fact, "note", f"Cancelled{_by(told)}{_why(told)}", "held")


def _paused(fact: Fact, told: Payload) -> Mark:
    return _line(fact, "note", f"Paused{_by(told)}{_why(told)}", "held")


def _resumed(fact: Fact, told: Payload) -> Mark | None:
    """A run that goes on after its wait needs no word; a person's word for it does."""
    if fact.run_id is not None or told.get("why") != "resumed":
        return None
    return _line(fact, "fold", f"Resumed{_by(told)}{_why(told)}")


def _by(told: Payload) -> str:
    by = told.get("by")
    name = by.get("name") if isinstance(by, dict) else None
    return f" by {name}" if name else ""


def _why(told: Payload) -> str:
    return f": {told['reason']}" if told.get("reason") else ""


def unreadable_mark(fact: Fact) -> Mark:
    """A fact that cannot be decoded hides none of the others."""
    fault = fact.payload[UNREADABLE]
    text = f"A fact of type {fact.type} could not be decoded (field {fault['field']})"
    return Mark(fact.seq, fact.seq, fact.occurred_at, "note", text, [str(fault["why"])], raw=True)


def told_mark(fact: Fact) -> Mark:
    """What a turn was told, as long as it has not read it."""
    return _line(fact, "note", f"Told{_by(fact.payload)}, not read yet: {_words(fact)}", "wait")


def mark_read(mark: Mark, told: Fact, seq: int) -> None:
    """The turn has read it: the message itself stands below."""
    mark.kind, mark.level, mark.touched = "fold", "", max(mark.touched, seq)
    mark.text = f"Told{_by(told.payload)} while the turn was under way, read below"


def mark_unread(mark: Mark, told: Fact, seq: int) -> None:
    """The turn has ended before it was read."""
    mark.level, mark.touched = "held", max(mark.touched, seq)
    mark.text = f"Told{_by(told.payload)}, but the turn ended first: {_words(told)}"


def _words(fact: Fact) -> str:
    given = fact.payload.get("input")
    messages = given if isinstance(given, list) else []
    text = " ".join(filter(None, map(text_of, messages)))
    return f"“{text[:MOST_WORDS]}{'…' if len(text) > MOST_WORDS else ''}”"


def _ended(fact: Fact, told: Payload) -> Mark | None:
    if told.get("status") != "lost":
        return None
    text = "The worker of this run was lost; another one takes over from the last commit"
    return _line(fact, "note", text, "wait")


def _permissions(fact: Fact, _told: Payload) -> Mark | None:
    return None if fact.run_id else _line(fact, "fold", "Permissions changed")


_LINES: dict[str, Callable[[Fact, Payload], Mark | None]] = {
    FactType.CONTEXT_REPLACED: _replaced,
    FactType.BASELINE: _baseline,
    FactType.RECOVERY_APPLIED: _recovered,
    FactType.TURN_FAILED: _failed,
    FactType.TURN_CANCELLED: _cancelled,
    FactType.TURN_PAUSED: _paused,
    FactType.TURN_RESUMED: _resumed,
    FactType.RUN_END: _ended,
    FactType.PERMISSION_CHANGED: _permissions,
}
