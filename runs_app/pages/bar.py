"""The control bar: every button of a thread with whether it may be pressed and, if not, why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from runs_app.pages.conversation import head_turn
from runs_app.policies import CANCEL, INTERRUPT, STEER
from runs_app.states import TurnCommand, TurnState, WaitKind, allows
from sessions_app.policies import CLEAR

if TYPE_CHECKING:
    from agentadmin.access.actor import Actor
    from runs_app.models import Turn
    from sessions_app.models import AgentThread

NOTHING = "Nothing runs, so there is nothing to stop, pause or steer."
WAITS = "Nothing is cleared under an open question."
UNKNOWN = "A tool call has an unknown outcome; record it first."
_LACKS = "You need the permission "


@dataclass(frozen=True, slots=True)
class Button:
    """One control; a reason means that it may not be pressed now."""

    name: str
    label: str
    url: str
    key: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """The buttons in order, and the sentences for those that are off."""

    buttons: list[Button]

    @property
    def reasons(self) -> list[str]:
        """Each reason once, and all missing permissions in one sentence."""
        said = list(dict.fromkeys(b.reason for b in self.buttons if b.reason))
        lacks = [r.removeprefix(_LACKS).removesuffix(".") for r in said if r.startswith(_LACKS)]
        others = [reason for reason in said if not reason.startswith(_LACKS)]
        return [_lacking(lacks), *others] if lacks else others


def _lacking(permissions: list[str]) -> str:
    """The sentence that names what is missing."""
    *others, last = permissions
    if not others:
        return f"{_LACKS}{last}."
    return f"You need the permissions {', '.join(others)} and {last}."


def control_bar(actor: Actor, thread: AgentThread) -> Bar:
    """What may be asked of this thread now, from the transition table and the actor's rights."""
    turn = head_turn(thread)
    cancel = reverse("turn_cancel", args=[turn.id]) if turn else ""
    return Bar(
        [
            Button(
                "interrupt",
                "Interrupt",
                reverse("thread_interrupt", args=[thread.id]),
                "i",
                missing(actor, thread, INTERRUPT) or _of_turn(thread, turn, TurnCommand.INTERRUPT),
            ),
            *_holding(actor, thread, turn),
            Button(
                "cancel",
                "Cancel turn",
                cancel,
                "c",
                missing(actor, thread, CANCEL) or _of_turn(thread, turn, TurnCommand.CANCEL),
            ),
            Button(
                "clear",
                "Clear context…",
                reverse("thread_act", args=[thread.id, "clear_context"]),
                "",
                missing(actor, thread, CLEAR) or _of_wait(thread, turn),
            ),
        ]
    )


def _holding(actor: Actor, thread: AgentThread, turn: Turn | None) -> list[Button]:
    """Pause, or Resume in its place, and Steer."""
    lacks = missing(actor, thread, STEER)
    paused = turn is not None and turn.state == TurnState.PAUSED
    wanted = (TurnCommand.RESUME if paused else TurnCommand.PAUSE, TurnCommand.STEER)
    return [
        Button(
            command,
            command.capitalize(),
            reverse(f"turn_{command}", args=[turn.id]) if turn else "",
            reason=lacks or _of_turn(thread, turn, command),
        )
        for command in wanted
    ]


def missing(actor: Actor, thread: AgentThread, permission: str) -> str:
    """The sentence that names the permission, where the actor does not have it."""
    if actor.may(permission, thread.session.namespace, thread.agent_id):
        return ""
    return _lacking([permission])


def _of_turn(thread: AgentThread, turn: Turn | None, command: TurnCommand) -> str:
    if turn is None:
        interrupts = command is TurnCommand.INTERRUPT and thread.active_run_id is not None
        return "" if interrupts else NOTHING
    return allows(command, turn.state, turn.wait_kind).reason


def _of_wait(thread: AgentThread, turn: Turn | None) -> str:
    if turn is not None and turn.wait_kind == WaitKind.RECONCILE:
        return UNKNOWN
    return WAITS if thread.pending_interactions else ""
