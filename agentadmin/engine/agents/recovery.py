"""How a run begins: defaults, what a predecessor left, the input or the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents import answers as answering
from agentadmin.engine.agents import ending
from agentadmin.engine.agents.admission import Answer, RunResult
from agentadmin.engine.agents.calls import open_calls
from agentadmin.engine.context.request import is_sound
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import Msg, Role, ToolCallState, ToolResultState
from agentadmin.engine.state.calls import close_calls
from agentadmin.engine.state.calls import open_calls as every_open_call
from agentadmin.engine.state.repair import repair

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.state.agent_state import AgentState
    from agentadmin.engine.state.calls import OpenCall

PARKED_STATES = (ToolCallState.ASKING, ToolCallState.SUBMITTED)
WITHDRAWN = "[ERROR] The question was withdrawn by a new message. Tool: {name}"


async def begin(run: Execution) -> RunResult | None:
    """Make the state ready for the loop; a result when the run is over already."""
    admission = run.admission
    retried = admission.kind == "direct" and run.state.shutdown_interrupted
    _defaults(run)
    _head(run)
    if admission.kind in {"new", "direct"}:
        _withdraw(run)
    given = list(admission.answers) or _journal_answers(run)
    if admission.kind == "resume" or given:
        run.first(run.log.fact(FactType.TURN_RESUMED, {"why": _why(run, given)}))
    answering.apply(run, given)
    if uncertain := ending.unknown_calls(run):
        # A stop that was asked of the run before says what becomes of the turn.
        run.control.check()
        return await ending.reconcile(run, [call.id for call in uncertain])
    if not given and admission.kind in {"resume", "takeover"}:
        was_interrupted, message = await _was_interrupted(run)
        if was_interrupted:
            return await ending.interrupted(run, message)
    await _repair(run)
    _take_input(run, retried=retried)
    return None


def _why(run: Execution, given: Sequence[Answer]) -> str:
    return "answered" if given else run.admission.why


def _defaults(run: Execution) -> None:
    """A thread's first state carries its agent's permissions and tool groups."""
    state = run.state
    if run.log.fresh:
        state.permission_context = run.spec.permission_context
        if run.spec.initial_groups:
            state.tool_context = replace(
                state.tool_context, activated_groups=run.spec.initial_groups
            )
    if state.shutdown_interrupted:
        state.shutdown_interrupted = False


def _head(run: Execution) -> None:
    """The facts that open the run; they go out with its first commit."""
    admission = run.admission
    if admission.lost_run is not None:
        payload: dict[str, Any] = {"status": "lost", "reason": "its worker is gone", "usage": {}}
        run.first(NewFact(FactType.RUN_END, payload, admission.turn_id, admission.lost_run))
    if admission.kind == "direct":
        run.first(
            run.log.fact(
                FactType.TURN_START,
                {
                    "request_id": admission.request_id,
                    "input": [message.raw for message in admission.input],
                    "by": admission.by,
                },
            )
        )
    run.first(
        run.log.fact(
            FactType.RUN_START,
            {
                "attempt": admission.attempt,
                "worker": admission.worker,
                "agent": admission.agent,
                "why": admission.why,
            },
        )
    )


def _withdraw(run: Execution) -> None:
    """A new message withdraws what an earlier, unfinished turn had asked."""
    turns: list[str] = []
    for asked in run.log.interactions.values():
        if asked.turn_id == run.admission.turn_id or asked.resolved is not None:
            continue
        answer = Answer(
            asked.request["call_id"], "cancelled", interaction_id=asked.id, reason="a new message"
        )
        run.first(run.log.fact(FactType.INTERACTION_RESOLVED, answering.fact_of(answer)))
        if asked.turn_id is not None and asked.turn_id not in turns:
            turns.append(asked.turn_id)
    for turn_id in turns:
        payload = {"by": run.admission.by, "reason": "a new message"}
        run.first(NewFact(FactType.TURN_CANCELLED, payload, turn_id, run.run_id))


def _journal_answers(run: Execution) -> list[Answer]:
    """Answers that were recorded and that no run has taken yet."""
    return [
        Answer.of(asked)
        for asked in run.log.interactions.values()
        if asked.resolved is not None and asked.turn_id in (None, run.admission.turn_id)
    ]


async def _was_interrupted(run: Execution) -> tuple[bool, Msg | None]:
    """Whether the turn was interrupted and only waited for outcomes, and with which message."""
    admission = run.admission
    fact = await run.log.last_fact(
        FactType.TURN_SUSPENDED, admission.turn_id, admission.start_seq or 0
    )
    wait = fact.payload.get("wait", {}) if fact else {}
    message = Msg(wait["message"]) if wait.get("message") else None
    return wait.get("then") == "interrupted", message


async def _repair(run: Execution) -> None:
    """Mend what no provider would accept, and say so before the request is built."""
    if is_sound(run.state.context_mutable()):
        return
    goes_on = run.admission.kind in {"resume", "takeover"}
    keep = {call.id for call in open_calls(run.state.context_mutable())} if goes_on else set()
    late = _left_behind(run.state, keep)
    withdrawn = close_calls(
        run.state, [(call, WITHDRAWN) for call in late], ToolResultState.INTERRUPTED
    )
    mended, repairs = repair(withdrawn, keep)
    notes = [
        *({"kind": "withdrawn", "call_id": c.call_id, "note": "not answered"} for c in late),
        *(each.to_dict() for each in repairs),
    ]
    if not notes:
        return
    run.log.put_state(mended)
    run.ctx.agent_state = mended
    payload = {"repairs": notes, "interrupted_run": run.admission.lost_run}
    run.first(run.log.fact(FactType.RECOVERY_APPLIED, payload))
    await run.flush(reason="repair")


def _left_behind(state: AgentState, keep: Collection[str]) -> list[OpenCall]:
    """Parked calls of other turns, with their siblings: an answer would come too late now."""
    calls = every_open_call(state)
    parked = {c.message_index for c in calls if c.state in PARKED_STATES and c.call_id not in keep}
    return [c for c in calls if c.message_index in parked and c.call_id not in keep]


def _take_input(run: Execution, *, retried: bool) -> None:
    """Append what the turn was given, unless a predecessor has done so."""
    context = run.state.context_mutable()
    given = list(run.admission.input)
    if retried and _text(given) == _last_question(context):
        return
    resent = run.admission.kind in {"resume", "takeover"}
    known = {message.id for message in context} if resent else set()
    run.log.bind_inputs(given, run.admission.start_seq)
    context.extend(message for message in given if message.id not in known)


def _text(messages: Sequence[Msg]) -> str:
    return "\n".join(message.text for message in messages)


def _last_question(context: Sequence[Msg]) -> str | None:
    """The last user message: after a shutdown a client sends it again, and means the same one."""
    return next((m.text for m in reversed(context) if m.role == Role.USER), None)
