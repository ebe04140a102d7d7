"""How a run ends: each ending is exactly one commit, which may also give the lease back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.admission import Outcome, RunResult, RunStatus
from agentadmin.engine.agents.calls import (
    NOT_RUN,
    OUTCOME,
    UNKNOWN,
    interrupted_result,
    last_assistant,
    open_calls,
    result_message,
)
from agentadmin.engine.agents.interrupt import InterruptKind, InterruptSource, Signal
from agentadmin.engine.errors import AgentAdminError, Fenced
from agentadmin.engine.journal.base import Release
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import (
    FinishReason,
    Msg,
    ToolResultState,
    ToolUseBlock,
    assistant_message,
)
from agentadmin.engine.messages.vocabulary import GENERATE_REASON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.agents.acting import Parked
    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.journal.facts import NewFact

logger = logging.getLogger(__name__)

RECOVERY_TEXT = "I noticed that you have interrupted me. What can I do for you?"
ABANDONED = "the caller went away"


async def complete(run: Execution, reply: Msg | None, outcome: Outcome) -> RunResult:
    """The turn is done, with its last message in the same commit."""
    return await _completed(run, reply, outcome, RunStatus.COMPLETED)


async def _completed(
    run: Execution, reply: Msg | None, outcome: Outcome, status: RunStatus
) -> RunResult:
    payload = {"outcome": str(outcome), "reply": reply.id if reply else None}
    facts = [run.log.fact(FactType.TURN_COMPLETED, payload), run_end(run, status)]
    released = await run.flush(facts, reason=f"turn {outcome}", release=run.host.release())
    return RunResult(status, "completed", outcome, reply=reply, usage=run.usage, released=released)


def run_end(run: Execution, status: RunStatus, reason: str | None = None) -> NewFact:
    """The fact that closes this run's record."""
    payload = {"status": str(status), "reason": reason, "usage": run.usage.to_dict()}
    return run.log.fact(FactType.RUN_END, payload)


async def stopped(run: Execution) -> RunResult:
    """A middleware has asked for the stop."""
    finish = run.stop.finish or FinishReason.MIDDLEWARE_STOP_REQUESTED
    answer_open(run, open_calls(run.state.context_mutable()))
    denied = finish is FinishReason.ALL_TOOLS_DENIED
    outcome = Outcome.ALL_DENIED if denied else Outcome.STOPPED
    return await complete(run, mark(run, finish), outcome)


def mark(run: Execution, finish: FinishReason) -> Msg | None:
    """Note on the newest assistant message why it is the last one."""
    context = run.state.context_mutable()
    index = last_assistant(context)
    if index is None:
        return None
    context[index] = context[index].with_metadata(**{GENERATE_REASON: str(finish)})
    return context[index]


async def park(run: Execution, parked: Parked) -> RunResult:
    """The turn waits for people; the reply shows what is asked, as a copy with its reason."""
    wait = {"kind": parked.kind, "ids": list(parked.ids)}
    released = await _suspend(run, wait, parked.requests, RunStatus.SUSPENDED)
    approval = parked.kind == "approval"
    finish = FinishReason.PERMISSION_ASKING if approval else FinishReason.TOOL_SUSPENDED
    context = run.state.context_mutable()
    index = last_assistant(context)
    # A copy: the state stays as it was committed.
    shown = (
        None if index is None else context[index].with_metadata(**{GENERATE_REASON: str(finish)})
    )
    return RunResult(
        RunStatus.SUSPENDED, "waiting", wait=wait, reply=shown, usage=run.usage, released=released
    )


async def _suspend(
    run: Execution, wait: dict[str, Any], requests: Sequence[NewFact], status: RunStatus
) -> bool:
    facts = [
        *requests,
        run.log.fact(FactType.TURN_SUSPENDED, {"wait": wait}),
        run_end(run, status, f"waits for {wait['kind']}"),
    ]
    return await run.flush(facts, reason=f"wait {wait['kind']}", release=_parking(run))


def _parking(run: Execution) -> Release:
    """Turns queued behind a parked one wait anyway, so they do not keep the lease."""
    return Release.NEVER if run.host.release() is Release.NEVER else Release.PARK


async def reconcile(
    run: Execution, call_ids: Sequence[str], *, interrupted: Signal | None = None
) -> RunResult:
    """Outside effects of unknown outcome: only a person may say what happened."""
    wait: dict[str, Any] = {"kind": "reconcile", "ids": list(call_ids)}
    status = RunStatus.SUSPENDED
    if interrupted is not None:
        status = RunStatus.INTERRUPTED
        wait["then"] = "interrupted"
        wait["message"] = interrupted.message.raw if interrupted.message else None
    released = await _suspend(run, wait, (), status)
    return RunResult(status, "waiting", wait=wait, usage=run.usage, released=released)


async def pause(run: Execution, signal: Signal) -> RunResult:
    """A safe boundary has been reached on somebody's wish."""
    facts = [
        run.log.fact(FactType.TURN_PAUSED, {"by": signal.by, "reason": signal.reason}),
        run_end(run, RunStatus.SUSPENDED, "paused"),
    ]
    released = await run.flush(facts, reason="pause", release=_parking(run))
    return RunResult(RunStatus.SUSPENDED, "paused", usage=run.usage, released=released)


async def fail(run: Execution, error: Exception) -> RunResult:
    """The loop failed: the input stays, nothing is made up, the error is the result."""
    ours = isinstance(error, AgentAdminError)
    if not ours:
        logger.exception("run %s failed", run.run_id, exc_info=error)
    detail = error.detail if isinstance(error, AgentAdminError) else str(error)
    body = {
        "code": error.code if isinstance(error, AgentAdminError) else "error",
        "detail": detail if ours else f"{type(error).__name__}: {detail}",
    }
    facts = [
        run.log.fact(FactType.TURN_FAILED, {"outcome": str(Outcome.ERROR), "error": body}),
        run_end(run, RunStatus.FAILED, body["detail"]),
    ]
    try:
        released = await run.flush(facts, reason="failed", release=run.host.release())
    except Exception as save_error:
        error.add_note(f"The state could not be saved: {save_error}")
        raise error from save_error
    return RunResult(
        RunStatus.FAILED,
        "failed",
        Outcome.ERROR,
        error=error,
        usage=run.usage,
        released=released,
    )


async def stop(run: Execution, signal: Signal) -> RunResult:
    """The run was told to stop: whose wish it was says what becomes of the turn."""
    if signal.source is InterruptSource.FENCED:
        raise Fenced()
    if signal.source is InterruptSource.SYSTEM:
        return await shut_down(run)
    if signal.kind is InterruptKind.CANCEL:
        return await cancel(run, signal)
    unknown = unknown_calls(run)
    if unknown:
        _answer_others(run, unknown)
        return await reconcile(run, [call.id for call in unknown], interrupted=signal)
    return await interrupted(run, signal.message)


def unknown_calls(run: Execution) -> list[ToolUseBlock]:
    """Open calls with outside effects that were started."""
    uncertain = run.log.uncertain
    return [c for c in open_calls(run.state.context_mutable()) if c.id in uncertain]


def _answer_others(run: Execution, unknown: Sequence[ToolUseBlock]) -> None:
    ids = {call.id for call in unknown}
    answer_open(run, [c for c in open_calls(run.state.context_mutable()) if c.id not in ids])


def answer_open(run: Execution, calls: Sequence[ToolUseBlock], text: str = NOT_RUN) -> None:
    """Every call gets exactly one result, so that no provider refuses the next request."""
    for call in calls:
        message = interrupted_result(call, name=run.spec.name, text=text)
        run.state.context_mutable().append(message)


async def interrupted(run: Execution, message: Msg | None) -> RunResult:
    """Recovery reply, then the interrupt's own message, once (spec, Decision 5)."""
    context = run.state.context_mutable()
    answer_open(run, open_calls(context))
    reply = assistant_message(
        RECOVERY_TEXT,
        name=run.spec.name,
        metadata={GENERATE_REASON: str(FinishReason.INTERRUPTED)},
    )
    context.append(reply)
    if message is not None and all(known.id != message.id for known in context):
        context.append(message)
    return await _completed(run, reply, Outcome.INTERRUPTED, RunStatus.INTERRUPTED)


async def cancel(run: Execution, signal: Signal) -> RunResult:
    """The turn is given up; outcomes that nobody knows are recorded as unknown."""
    for call in unknown_calls(run):
        run.state.context_mutable().append(
            result_message(
                call,
                UNKNOWN.format(name=call.name),
                ToolResultState.INTERRUPTED,
                name=run.spec.name,
                **{OUTCOME: "unknown"},
            )
        )
    answer_open(run, open_calls(run.state.context_mutable()))
    facts = [
        run.log.fact(FactType.TURN_CANCELLED, {"by": signal.by, "reason": signal.reason}),
        run_end(run, RunStatus.INTERRUPTED, "cancelled"),
    ]
    released = await run.flush(facts, reason="cancelled", release=run.host.release())
    return RunResult(RunStatus.INTERRUPTED, "cancelled", usage=run.usage, released=released)


async def shut_down(run: Execution) -> RunResult:
    """Save and let go; the next worker continues the turn from here."""
    run.state.shutdown_interrupted = True
    facts = [run_end(run, RunStatus.SUSPENDED, "shutdown")]
    released = await run.flush(facts, reason="shutdown", release=_parking(run))
    return RunResult(RunStatus.SUSPENDED, "running", usage=run.usage, released=released)


async def abandoned(run: Execution) -> None:
    """The caller cancelled the call itself: what is durable is kept, nothing is left dangling."""
    signal = Signal(InterruptSource.USER, InterruptKind.CANCEL, reason=ABANDONED)
    unknown = unknown_calls(run)
    if unknown:
        _answer_others(run, unknown)
        await reconcile(run, [call.id for call in unknown], interrupted=signal)
    else:
        await cancel(run, signal)
