"""A run's timeline from its facts: model requests, tools, waits, as bars on one axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentadmin.engine.journal.facts import FactType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from agentadmin.engine.journal.facts import Fact

TICKS = 5
SHORTEST = 0.4


@dataclass(frozen=True, slots=True)
class Bar:
    """One stretch of time: what was going on, and how it ended."""

    name: str
    detail: str
    css: str
    icon: str
    depth: int
    start: float
    length: float
    note: str = ""
    hue: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A bar with its place in per cent of the axis."""

    bar: Bar
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Rows, ticks and how long it took in all."""

    rows: Sequence[Row]
    ticks: Sequence[tuple[str, str]]
    began: datetime | None
    seconds: float
    steps: int
    tools: int
    is_cut: bool


@dataclass(slots=True)
class _Building:
    """What is open while the facts are read in order."""

    origin: datetime
    bars: list[Bar] = field(default_factory=list)
    model: Fact | None = None
    tools: dict[str, Fact] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    waits: dict[str, Fact] = field(default_factory=dict)
    steps: int = 0

    def at(self, moment: datetime) -> float:
        """Seconds since the run began; never negative, whatever a clock did."""
        return max(0.0, (moment - self.origin) / timedelta(seconds=1))

    def put(self, since: Fact, until: datetime, **words: Any) -> None:
        start = self.at(since.occurred_at)
        self.bars.append(Bar(start=start, length=max(0.0, self.at(until) - start), **words))


def timeline(facts: Sequence[Fact], end: datetime, *, is_cut: bool = False) -> Timeline:
    """The bars of a run; `end` is its end, or now while it runs."""
    if not facts:
        return Timeline((), (), None, 0.0, 0, 0, is_cut)
    building = _Building(facts[0].occurred_at)
    for fact in facts:
        _read(building, fact)
    _close(building, end)
    span = max(building.at(end), max((b.start + b.length for b in building.bars), default=0), 0.001)
    bars = sorted(building.bars, key=lambda bar: (bar.start, bar.depth))
    return Timeline(
        [_row(bar, span) for bar in bars],
        list(_ticks(span)),
        building.origin,
        span,
        building.steps,
        len(building.decided),
        is_cut,
    )


def _read(building: _Building, fact: Fact) -> None:
    told = fact.payload
    call = str(told.get("call_id") or "")
    match fact.type:
        case FactType.REQUEST_PREPARED:
            building.steps += 1
            building.model = fact
        case FactType.MESSAGE_ASSISTANT if building.model is not None:
            _model_ends(building, fact.occurred_at, "")
        case FactType.TOOL_DECISION:
            building.decided.add(call)
            if told.get("behavior") == "deny":
                _denied(building, fact)
        case FactType.TOOL_DISPATCH:
            building.decided.add(call)
            building.tools[call] = fact
        case FactType.TOOL_RESULT if call in building.tools:
            _tool_ends(building, call, fact.occurred_at, "")
        case FactType.INTERACTION_REQUESTED:
            building.waits[str(told.get("interaction_id"))] = fact
        case FactType.INTERACTION_RESOLVED:
            _wait_ends(building, str(told.get("interaction_id")), fact)
        case FactType.RUN_STOP_REQUESTED:
            words = {"name": f"{told.get('kind') or 'stop'} requested", "detail": ""}
            building.put(
                fact, fact.occurred_at, css="b-ctl", icon="g-unconfirmed", depth=1, **words
            )


def _model_ends(building: _Building, until: datetime, note: str) -> None:
    asked = building.model
    if asked is None:
        return
    detail = str(asked.payload.get("model") or "model")
    words = {"name": f"step {building.steps}", "detail": detail, "note": note}
    css = "b-bad" if note else "b-model"
    building.put(asked, until, css=css, icon="brain", depth=1, **words)
    building.model = None


def _tool_ends(building: _Building, call: str, until: datetime, note: str) -> None:
    fact = building.tools.pop(call)
    words = {"name": str(fact.payload.get("tool") or call), "detail": "", "note": note}
    building.put(fact, until, css="b-bad" if note else "b-tool", icon="tool", depth=2, **words)


def _denied(building: _Building, fact: Fact) -> None:
    """A call that the gate refused took no time; the run shows it all the same."""
    told = fact.payload
    words = {"name": str(told.get("tool") or "call"), "detail": str(told.get("because") or "")}
    building.put(fact, fact.occurred_at, css="b-bad", icon="tool", depth=2, note="denied", **words)


def _wait_ends(building: _Building, id_: str, resolved: Fact) -> None:
    fact = building.waits.pop(id_, None)
    if fact is None:
        return
    by = resolved.payload.get("by")
    name = by.get("name") if isinstance(by, dict) else ""
    words = {"name": str(fact.payload.get("tool") or "question"), "detail": f"waited for {name}"}
    building.put(fact, resolved.occurred_at, css="b-wait", icon="g-waiting", depth=2, **words)


def _close(building: _Building, end: datetime) -> None:
    """What no fact ended is going on, or was cut off with the run."""
    if building.model is not None:
        _model_ends(building, end, "")
    for call in list(building.tools):
        _tool_ends(building, call, end, "no result")
    for fact in building.waits.values():
        words = {"name": str(fact.payload.get("tool") or "question"), "detail": "waits"}
        building.put(fact, end, css="b-wait", icon="g-waiting", depth=2, hue="c-wait", **words)


def _row(bar: Bar, span: float) -> Row:
    width = max(SHORTEST, bar.length / span * 100)
    x = min(bar.start / span * 100, 100 - width)
    return Row(bar, f"{x:.2f}%", f"{width:.2f}%")


def _ticks(span: float) -> Iterable[tuple[str, str]]:
    step = _nice(span / TICKS)
    n = 0
    while n * step < span:
        seconds = n * step
        yield f"{seconds / span * 100:.2f}%", f"+{seconds:g} s" if n else "0"
        n += 1


def _nice(wish: float) -> float:
    """The next of 1, 2, 5 × 10ⁿ."""
    scale = 0.001
    while scale < 1e7:
        for factor in (1, 2, 5):
            if factor * scale >= wish:
                return factor * scale
        scale *= 10
    return wish
