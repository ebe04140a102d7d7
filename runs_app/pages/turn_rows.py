"""Rows of the Turns page: how each turn stands in words, and what may be asked of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from runs_app.pages.bar import Button, missing
from runs_app.policies import CANCEL, RECONCILE, STEER
from runs_app.selectors.turn_list import OPEN, places_in_queue, tools_asked
from runs_app.states import OPEN_STATES, TERMINAL, TurnCommand, TurnState, WaitKind, allows
from sessions_app.journal.unreadable import column_list
from sessions_app.pages.frame import tab_url
from sessions_app.templatetags.states import look

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.access.actor import Actor
    from runs_app.models import Turn

_PERMISSIONS = {
    TurnCommand.PAUSE: STEER,
    TurnCommand.RESUME: STEER,
    TurnCommand.STEER: STEER,
    TurnCommand.CANCEL: CANCEL,
    TurnCommand.RECONCILE: RECONCILE,
}
ENDS = ("completed", "failed", "cancelled", "all")


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One turn as the page shows it."""

    turn: Turn
    state: str
    words: str
    unknown: int
    url: str
    buttons: list[Button]


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter with how many turns it shows, where that is cheap to know."""

    label: str
    url: str
    is_current: bool
    count: int | None


def turn_rows(actor: Actor, turns: Sequence[Turn]) -> list[TurnLine]:
    """The rows of a page of turns, in its order; two queries for all of them."""
    places = places_in_queue([t for t in turns if t.state == TurnState.QUEUED])
    ids = [id_ for turn in turns if turn.wait_kind for id_ in column_list(turn.wait_ids)]
    tools = tools_asked([str(id_) for id_ in ids])
    return [_line(actor, turn, places, tools) for turn in turns]


def _line(
    actor: Actor, turn: Turn, places: Mapping[str, int], tools: Mapping[str, str]
) -> TurnLine:
    unknown = turn.wait_kind == WaitKind.RECONCILE
    return TurnLine(
        turn=turn,
        state=turn.outcome or turn.state,
        words=_words(turn, places, tools),
        unknown=len(column_list(turn.wait_ids)) if unknown else 0,
        url=f"{tab_url(turn.thread, 'conversation')}#t{turn.start_seq}",
        buttons=[] if turn.state in TERMINAL else list(_buttons(actor, turn)),
    )


def _words(turn: Turn, places: Mapping[str, int], tools: Mapping[str, str]) -> str:
    """What it waits for, in words."""
    told = len(column_list(turn.steering))
    parts = [_wait(turn, tools)] if turn.wait_kind else []
    match turn.state:
        case TurnState.QUEUED:
            ahead = places.get(turn.id, 0)
            parts.append(f"{ahead} ahead of it" if ahead else "next in its thread")
        case TurnState.PAUSED:
            parts.append("goes on when somebody resumes it")
        case TurnState.PAUSING:
            parts.append("pauses at its next safe point")
        case TurnState.CANCELLING:
            parts.append("stops at its next safe point")
        case TurnState.RUNNING if turn.attempts > 1:
            parts.append(f"run {turn.attempts} of it")
    if told:
        parts.append(f"{told} text{'' if told == 1 else 's'} to read")
    return "; ".join(parts)


def _wait(turn: Turn, tools: Mapping[str, str]) -> str:
    ids = [str(id_) for id_ in column_list(turn.wait_ids)]
    if turn.wait_kind == WaitKind.RECONCILE:
        return f"{len(ids)} call{'' if len(ids) == 1 else 's'} with unknown outcome"
    if turn.wait_kind == WaitKind.DEFINITION:
        return f"the agent {', '.join(ids)} is not defined"
    asked: dict[str, int] = defaultdict(int)
    for id_ in ids:
        asked[tools.get(id_, "")] += 1
    names = ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in asked.items() if name)
    words = look(turn.wait_kind).word
    return f"{words}: {names}" if names else words


def _buttons(actor: Actor, turn: Turn) -> list[Button]:
    paused = turn.state == TurnState.PAUSED
    wanted = [
        TurnCommand.RESUME if paused else TurnCommand.PAUSE,
        TurnCommand.STEER,
        TurnCommand.CANCEL,
    ]
    if turn.wait_kind == WaitKind.RECONCILE:
        wanted.append(TurnCommand.RECONCILE)
    return [_button(actor, turn, command) for command in wanted]


def _button(actor: Actor, turn: Turn, command: TurnCommand) -> Button:
    reason = missing(actor, turn.thread, _PERMISSIONS[command])
    reason = reason or allows(command, turn.state, turn.wait_kind).reason
    if command is TurnCommand.RECONCILE:
        url = f"{tab_url(turn.thread, 'conversation')}#reconcile"
        return Button(command, "Record outcome…", url, reason=reason)
    url = reverse(f"turn_{command}", args=[turn.id])
    return Button(command, f"{command.capitalize()}…", url, reason=reason)


def chips(query: Mapping[str, str], counts: Mapping[str, int]) -> list[Chip]:
    """The filters by state."""
    first = Chip("Not ended", _url(query, OPEN), query["status"] == OPEN, sum(counts.values()))
    states = [
        Chip(look(state).word, _url(query, state), query["status"] == state, counts.get(state, 0))
        for state in OPEN_STATES
        if counts.get(state) or query["status"] == state
    ]
    ends = [Chip(end.capitalize(), _url(query, end), query["status"] == end, None) for end in ENDS]
    return [first, *states, *ends]


def _url(query: Mapping[str, str], status: str) -> str:
    return f"?{urlencode({**query, 'status': status})}"
