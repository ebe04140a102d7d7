"""Stored facts as rows of the event tail, in the words that `live/events.js` uses for live ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.state import codec
from runs_app.pages.blocks import raw_blocks

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from agentadmin.engine.journal.facts import Fact

LONGEST = 240
GROUPS: dict[str, tuple[str, ...]] = {
    "all": (),
    "messages": ("message",),
    "tools": ("tool",),
    "questions": ("interaction",),
    "course": ("run", "turn", "input", "recovery", "request"),
    "state": ("state", "context", "permission", "plan", "task", "migration"),
}
"""Which stored events a reader wants, by the first word of their type."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the tail."""

    at: datetime
    seq: int
    type: str
    text: str
    hue: str


def event_of(fact: Fact) -> Event:
    """The row of a fact."""
    return Event(fact.occurred_at, fact.seq, fact.type, brief(fact), hue_of(fact))


def brief(fact: Fact) -> str:
    """A fact in one line."""
    told = fact.payload
    if fact.erased:
        return "erased; its proof is kept"
    make = _LINES.get(fact.type)
    text = make(told) if make else ""
    text = text or text_of(told.get("message"))
    if not text and told:
        text = codec.dumps(told)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def text_of(message: Any) -> str:
    """The words of a message."""
    parts = (
        block.get("text") or block.get("thinking") or _called(block)
        for block in raw_blocks(message)
    )
    return " ".join(str(part) for part in parts if part)


def _called(block: dict[str, Any]) -> str:
    return f"{block['name']}()" if block.get("name") else ""


def hue_of(fact: Fact) -> str:
    """Only what needs a person, failed, or was done by an operator has a hue."""
    kind, told = fact.type, fact.payload
    if kind in {"interaction/requested", "turn/suspended"}:
        return "wait"
    failed = kind == "run/end" and told.get("status") in {"failed", "lost"}
    denied = kind == "tool/decision" and told.get("behavior") == "deny"
    if kind == "turn/failed" or failed or denied:
        return "bad"
    stopped = {"run/stop_requested", "turn/paused", "turn/cancelled"}
    return "held" if kind in stopped else ""


def _joined(*parts: Any) -> str:
    return " ".join(str(part) for part in parts if part)


def _counted(n: Any, word: str) -> str:
    return f"{n or 0} {word}{'' if n == 1 else 's'}"


def _name(by: Any) -> str:
    return f"by {by['name']}" if isinstance(by, dict) and by.get("name") else ""


def _error(told: dict[str, Any]) -> str:
    error = told.get("error")
    known = error if isinstance(error, dict) else {}
    return _joined(told.get("outcome"), known.get("code"), known.get("detail"))


def _input(told: dict[str, Any]) -> str:
    given = told.get("input")
    return text_of(given[0]) if isinstance(given, list) and given else ""


def _result(told: dict[str, Any]) -> str:
    blocks = raw_blocks(told.get("message"))
    words = [text_of({"content": block.get("output")}) for block in blocks if "output" in block]
    return " ".join(filter(None, words)) or str(told.get("call_id") or "")


_LINES: dict[str, Callable[[dict[str, Any]], str]] = {
    "run/start": lambda d: (
        f"attempt {d.get('attempt', 1)} on {d.get('worker') or 'a worker'}, "
        f"{d.get('why') or 'admitted'}"
    ),
    "run/end": lambda d: _joined(d.get("status"), d.get("reason")),
    "run/stop_requested": lambda d: str(d.get("kind") or "stop"),
    "turn/start": _input,
    "turn/paused": lambda d: _joined(_name(d.get("by")), d.get("reason")) or "at a safe point",
    "turn/resumed": lambda d: _joined(d.get("why"), _name(d.get("by")), d.get("reason")),
    "input/received": lambda d: _joined(_input(d), _name(d.get("by"))),
    "input/applied": lambda d: f"read what fact {d.get('seq')} told",
    "message/user": lambda d: text_of(d.get("message")) or "the turn’s input",
    "request/prepared": lambda d: (
        f"{d.get('model') or 'model'}, {_counted(d.get('items'), 'message')}, "
        f"{_counted(d.get('tokens'), 'token')}"
    ),
    "context/replaced": lambda d: str(d.get("reason") or ""),
    "message/redacted": lambda d: f"message {d.get('message_id')}",
    "state/restored": lambda d: f"version {d.get('version')} came back",
    "recovery/applied": lambda d: _counted(len(d.get("repairs") or ()), "repair"),
    "turn/completed": lambda d: str(d.get("outcome") or ""),
    "turn/failed": _error,
    "turn/suspended": lambda d: f"waiting for {(d.get('wait') or {}).get('kind') or 'an answer'}",
    "tool/decision": lambda d: _joined(
        str(d.get("behavior") or "").upper(), d.get("tool"), d.get("because")
    ),
    "tool/dispatch": lambda d: f"{d.get('tool')}, effect {d.get('effect')}",
    "tool/result": _result,
    "interaction/requested": lambda d: _joined(
        f"{d.get('kind')}:", d.get("tool"), d.get("because")
    ),
    "interaction/resolved": lambda d: _joined(
        d.get("decision"), _name(d.get("by")), d.get("reason")
    ),
}
