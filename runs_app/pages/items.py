"""The elements of a conversation: turn heads, messages, paired calls, marks. Each has an anchor.

`seq` is the place, `touched` the newest fact that it shows: the live view asks for what was touched
after a seq and puts it in place by the anchor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from agentadmin.engine.state import codec
from runs_app.pages.blocks import MAX_TEXT, Shown, output_of

if TYPE_CHECKING:
    from datetime import datetime

    from runs_app.models import Interaction, Turn
    from runs_app.pages.imported import OwnTime

MAX_ARGUMENT = 300
INLINE_LINES = 12
INLINE_TEXT = 1_500


@dataclass(slots=True)
class TurnHead:
    """Where a turn begins: its number, how it stands, its last run."""

    template: ClassVar[str] = "runs/_turn_head.html"
    seq: int
    touched: int
    number: int
    turn: Turn
    run_id: str | None = None

    @property
    def anchor(self) -> str:
        """Stable: the place of the turn in its thread."""
        return f"t{self.turn.start_seq}"

    @property
    def state(self) -> str:
        """The outcome once there is one, what it waits for while it waits, else the state."""
        turn = self.turn
        return turn.outcome or (turn.wait_kind if turn.state == "waiting" else None) or turn.state


@dataclass(slots=True)
class Message:
    """One message without its calls and results."""

    template: ClassVar[str] = "runs/_message.html"
    seq: int
    touched: int
    at: datetime
    by: str
    role: str
    blocks: list[Shown]
    changed: bool = False
    in_context: bool = True
    message_id: str = ""
    redacted: bool = False
    cut: str = ""
    """What cut an answer off while it was written."""
    own: OwnTime | None = None
    """When it was by the file that it came in; None for what was said here."""
    part: int = 0

    @property
    def anchor(self) -> str:
        """Stable: the fact where it first stood, and which part of it, where calls divide it."""
        return f"m{self.seq}-{self.part}" if self.part else f"m{self.seq}"


@dataclass(slots=True)
class Call:
    """A tool call with its decision, its question, and its result."""

    template: ClassVar[str] = "runs/_call.html"
    seq: int
    index: int
    touched: int
    at: datetime
    id: str
    tool: str
    input: Any
    state: str
    truncated: str = ""
    decision: dict[str, Any] | None = None
    asked: dict[str, Any] | None = None
    asked_at: datetime | None = None
    resolved: dict[str, Any] | None = None
    resolved_at: datetime | None = None
    dispatched_at: datetime | None = None
    effect: str = ""
    result: dict[str, Any] | None = None
    result_at: datetime | None = None
    result_seq: int | None = None
    pending: Interaction | None = None
    uncertain: bool = False
    message_id: str = ""
    result_id: str = ""
    """The ids of the messages that hold the call and its result."""
    others: list[Shown] = field(default_factory=list)
    own: OwnTime | None = None
    _text: str = ""

    @property
    def anchor(self) -> str:
        """Stable: the message's place and the call's number in it."""
        return f"c{self.seq}-{self.index}"

    @property
    def argument(self) -> str:
        """The arguments in one line."""
        given = self.input
        if isinstance(given, dict) and len(given) == 1:
            given = next(iter(given.values()))
        text = given if isinstance(given, str) else codec.dumps(given) if given else ""
        return text[:MAX_ARGUMENT]

    @property
    def rule(self) -> str:
        """The rule that decided, as it is written."""
        rule = (self.decision or {}).get("rule")
        if not isinstance(rule, dict):
            return ""
        content = rule.get("rule_content")
        return f"{rule.get('tool_name')}: {content}" if content else str(rule.get("tool_name"))

    @property
    def first(self) -> str:
        """What the gate said: a call that was asked about was asked first."""
        if self.asked is not None and self.asked.get("kind") == "approval":
            return "ask"
        return str((self.decision or {}).get("behavior") or "")

    @property
    def final(self) -> str:
        """What a person said."""
        said = str((self.resolved or {}).get("decision") or "")
        return {"approve": "allow", "deny": "deny", "expired": "deny"}.get(said, "")

    @property
    def answered_by(self) -> str:
        """Who said it."""
        resolved = self.resolved or {}
        if resolved.get("decision") == "expired":
            return "the product, as time ran out"
        by = resolved.get("by")
        return str(by.get("name") or "") if isinstance(by, dict) else ""

    @property
    def why(self) -> str:
        """The step that decided, where no rule did."""
        return str((self.asked or self.decision or {}).get("because") or "")

    @property
    def status(self) -> str:
        """How the call ended, or where it stands."""
        if self.result is not None:
            return str(self.result.get("state") or "running")
        if self.pending is not None:
            return self.pending.kind
        if self.uncertain:
            return "reconcile"
        return "running" if self.dispatched_at else self.state

    @property
    def look(self) -> str:
        """The hue of its bar: only what failed or happens now has one."""
        if self.first == "deny" or self.final == "deny" or self.status in {"error", "denied"}:
            return "bad"
        return "live" if self.status in {"running", "submitted"} else ""

    def settle(self, result: dict[str, Any], at: datetime, seq: int) -> None:
        """Take the result."""
        self.result, self.result_at, self.result_seq = result, at, seq
        self._text, self.others = output_of(result)
        self.touched = max(self.touched, seq)

    @property
    def size(self) -> int:
        """Characters of the result's text."""
        return len(self._text)

    @property
    def lines(self) -> int:
        """Lines of the result's text."""
        return self._text.count("\n") + 1 if self._text else 0

    @property
    def head(self) -> str:
        """The beginning of the result that is always shown."""
        return "\n".join(self._text[:INLINE_TEXT].split("\n")[:INLINE_LINES])

    @property
    def whole(self) -> str:
        """The result as far as a page can carry it; empty when the beginning is all of it."""
        return self._text[:MAX_TEXT] if len(self.head) < self.size else ""

    @property
    def is_cut(self) -> bool:
        """Whether the page cannot carry all of it."""
        return self.size > MAX_TEXT

    @property
    def took(self) -> float | None:
        """Seconds from the start of the tool to its result."""
        return _between(self.dispatched_at, self.result_at)

    @property
    def waited(self) -> float | None:
        """Seconds that a person took."""
        return _between(self.asked_at, self.resolved_at)


@dataclass(slots=True)
class Mark:
    """Something that happened to the conversation: cleared, repaired, failed, taken over."""

    template: ClassVar[str] = "runs/_mark.html"
    seq: int
    touched: int
    at: datetime
    kind: str
    text: str
    notes: list[str] = field(default_factory=list)
    level: str = ""

    raw: bool = False
    """Whether the fact's text is linked: there is nothing else to show of it."""

    @property
    def anchor(self) -> str:
        """Stable: the fact."""
        return f"f{self.seq}"


Item = TurnHead | Message | Call | Mark


def _between(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None:
        return None
    return max(0.0, (end - start) / timedelta(seconds=1))
