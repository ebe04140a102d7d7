"""The loop: reason, act, and again, until there is an answer or somebody has to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.agents import ending
from agentadmin.engine.agents.acting import act
from agentadmin.engine.agents.admission import Outcome, RunResult
from agentadmin.engine.agents.calls import open_calls
from agentadmin.engine.agents.interrupt import InterruptKind, Signal
from agentadmin.engine.agents.reasoning import reason
from agentadmin.engine.agents.recovery import begin
from agentadmin.engine.agents.steering import take, unread
from agentadmin.engine.context.request import empty_reminder, transient
from agentadmin.engine.errors import InputPending, ModelError
from agentadmin.engine.events import EventType
from agentadmin.engine.messages import FinishReason, Msg, ToolUseBlock, assistant_message
from agentadmin.engine.messages.vocabulary import GENERATE_REASON
from agentadmin.engine.models.base import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.agents.run import Execution

SUMMARISE = (
    "<system-reminder>You have used all {limit} rounds. Do not call tools. Tell the user what was "
    "done, what was found, and what is left.</system-reminder>"
)


async def drive(run: Execution) -> RunResult:
    """Run the turn until it ends or has to wait."""
    over = await begin(run)
    reminders: list[Msg] = []
    while over is None:
        await run.boundary()
        take(run)
        if (signal := _pausing(run)) is not None:
            return await ending.pause(run, signal)
        if open_calls(run.state.context_mutable()):
            over = await _act(run)
        elif run.rounds >= run.spec.max_iters:
            over = await _give_up(run)
        else:
            over, reminders = await _reason(run, reminders)
    return over


async def _act(run: Execution) -> RunResult | None:
    parked = await act(run)
    if parked is not None:
        return await ending.park(run, parked)
    return await ending.stopped(run) if run.stop.finish is not None else None


async def _reason(run: Execution, reminders: Sequence[Msg]) -> tuple[RunResult | None, list[Msg]]:
    """One round, and what the model is to be reminded of in the next one."""
    run.rounds += 1
    message = await reason(run, reminders)
    if run.stop.finish is not None:
        return await ending.stopped(run), []
    if message is not None and message.blocks(ToolUseBlock):
        return None, []
    if message is not None and message.text.strip():
        return await _done(run, message, Outcome.DONE), []
    # Only the model sees the reminder: it never enters the context.
    return None, [empty_reminder()]


async def _done(run: Execution, reply: Msg | None, outcome: Outcome) -> RunResult | None:
    """The turn is over, unless it was told something meanwhile: then it goes on with that."""
    if unread(run):
        return None
    try:
        return await ending.complete(run, reply, outcome)
    except InputPending:
        await run.log.catch_up()
        return None


def _pausing(run: Execution) -> Signal | None:
    signal = run.control.signal
    return signal if signal is not None and signal.kind is InterruptKind.PAUSE else None


async def _give_up(run: Execution) -> RunResult | None:
    """The limit is reached: one answer without tools, and the turn is over."""
    limit = run.spec.max_iters
    run.emit(EventType.EXCEED_MAX_ITERS, replyId="", maxIters=limit, currentIter=run.rounds)
    hint = transient(SUMMARISE.format(limit=limit), "max_iterations")
    try:
        message = await reason(run, [hint], purpose=Purpose.SUMMARY)
        text = f"Maximum iterations ({limit}) reached."
    except ModelError as error:
        message = None
        text = f"Maximum iterations ({limit}) reached. Error generating summary: {error.detail}"
    if message is None:
        message = assistant_message(
            text,
            name=run.spec.name,
            metadata={GENERATE_REASON: str(FinishReason.MAX_ITERATIONS)},
        )
        run.state.context_mutable().append(message)
        return await _done(run, message, Outcome.MAX_ITERATIONS)
    marked = ending.mark(run, FinishReason.MAX_ITERATIONS)
    return await _done(run, marked, Outcome.MAX_ITERATIONS)
