"""One acting: gate, dispatch and run the open calls of the newest assistant message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import call_hash, last_assistant, open_calls, replace_calls
from agentadmin.engine.agents.decisions import Judged, denial_text, judge, to_fact
from agentadmin.engine.agents.middleware import around_acting
from agentadmin.engine.agents.running import RunningCalls
from agentadmin.engine.clock import iso, now
from agentadmin.engine.events import EventType
from agentadmin.engine.identity import new_id
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.messages import ToolCallState, ToolResultState, ToolUseBlock, tool_message
from agentadmin.engine.messages.vocabulary import CONFIRM_REPLY_ID, EXTERNAL_REPLY_ID
from agentadmin.engine.state.permissions import Behavior
from agentadmin.engine.tools.executor import NO_RESULT, ToolOutcome
from agentadmin.engine.tools.toolkit import Waits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentadmin.engine.agents.run import Execution
    from agentadmin.engine.state.permissions import Decision


@dataclass(frozen=True, slots=True)
class Parked:
    """The turn waits for people: the kind of wait and the facts that ask them."""

    kind: str
    ids: tuple[str, ...]
    requests: tuple[NewFact, ...]


async def act(run: Execution) -> Parked | None:
    """Handle every open call; Parked when the turn has to wait."""
    judged = judge(
        open_calls(run.state.context_mutable()),
        run.state,
        run.spec.toolkit,
        run.active_tools(),
        run.workspace,
    )
    facts = [_decided(run, each.call, each.decision) for each in judged if each.decision]
    refused = [each for each in judged if each.refused or each.behavior is Behavior.DENY]
    if refused and facts:
        # Decided before it is answered, in the journal too.
        await run.flush(facts, reason="decision")
        facts = []
    for each in refused:
        _refuse(run, each)
    asking = [each for each in judged if each.behavior is Behavior.ASK]
    allowed = [each for each in judged if each.behavior is Behavior.ALLOW]
    if asking:
        return _ask(run, asking, allowed, facts)
    if not allowed:
        _all_refused(run, judged)
        return None
    waiting = [each for each in allowed if each.tool and each.tool.waits]
    await _run(run, [each for each in allowed if not (each.tool and each.tool.waits)], facts)
    return _wait(run, waiting) if waiting else None


def _decided(run: Execution, call: ToolUseBlock, decision: Decision) -> NewFact:
    return run.log.fact(FactType.TOOL_DECISION, to_fact(call, decision, run.approvers.get(call.id)))


def _refuse(run: Execution, each: Judged) -> None:
    """Answer at once a call that may not or cannot run, with the events that a result has."""
    outcome = each.refused or ToolOutcome.of_text(
        denial_text(each.decision) if each.decision else "", ToolResultState.DENIED
    )
    block = run.step.next_block()
    _start_event(run, each.call, block)
    _store(run, each.call, outcome)
    _end_events(run, each.call, outcome, block, streamed=0)


def _all_refused(run: Execution, judged: Sequence[Judged]) -> None:
    """Nothing ran; the answers go out with the next commit."""
    denied = [each.call.raw for each in judged if each.decision is not None]
    if denied and len(denied) == len(judged):
        run.emit(EventType.ALL_TOOLS_DENIED, run.step, deniedToolCalls=denied)


def _ask(
    run: Execution,
    asking: Sequence[Judged],
    allowed: Sequence[Judged],
    facts: Sequence[NewFact],
) -> Parked:
    """Park the step: none of its calls runs before people have answered."""
    changed = {each.call.id: each.call.replace(state=ToolCallState.ASKING.value) for each in asking}
    changed |= {
        each.call.id: each.call.replace(state=ToolCallState.ALLOWED.value) for each in allowed
    }
    replace_calls(run.state, changed)
    _note_reply(run, CONFIRM_REPLY_ID)
    known = _already_asked(run, asking)
    requests = [
        _approval(run, each.call, each.decision)
        for each in asking
        if each.decision and each.call.id not in known
    ]
    calls = [changed[each.call.id].raw for each in asking]
    run.emit(
        EventType.REQUIRE_USER_CONFIRM,
        run.step,
        replyId=run.step.reply_id,
        toolCalls=calls,
        suggestedRules={
            fact.payload["call_id"]: fact.payload["suggested_rules"] for fact in requests
        },
    )
    run.emit(
        EventType.REQUEST_STOP,
        run.step,
        reason="permission asking",
        generateReason="PERMISSION_ASKING",
    )
    ids = (*known.values(), *(fact.payload["interaction_id"] for fact in requests))
    return Parked("approval", ids, (*facts, *requests))


def _already_asked(run: Execution, asking: Sequence[Judged]) -> dict[str, str]:
    """Calls whose question still stands, after only some of a step's questions were answered."""
    hashes = {each.call.id: call_hash(each.call.name, each.call.input) for each in asking}
    return {
        asked.request["call_id"]: asked.id
        for asked in run.log.interactions.values()
        if asked.resolved is None
        and hashes.get(asked.request["call_id"]) == asked.request.get("call_hash")
    }


def _note_reply(run: Execution, key: str) -> None:
    """Remember which acting step asked, so that the answer's event can name it."""
    context = run.state.context_mutable()
    index = last_assistant(context)
    if index is not None:
        context[index] = context[index].with_metadata(**{key: run.step.reply_id})


def _approval(run: Execution, call: ToolUseBlock, decision: Decision) -> NewFact:
    return _request(
        run,
        "approval",
        call,
        suggested_rules=[rule.to_dict() for rule in decision.suggested_rules],
        because=decision.because,
        message=decision.message,
    )


def _request(run: Execution, kind: str, call: ToolUseBlock, **more: Any) -> NewFact:
    payload: dict[str, Any] = {
        "interaction_id": new_id(),
        "kind": kind,
        "call_id": call.id,
        "tool": call.name,
        "input": call.input,
        "call_hash": call_hash(call.name, call.input),
        "suggested_rules": [],
        "because": kind,
        "message": "",
        "expires_at": _deadline(run),
    }
    return run.log.fact(FactType.INTERACTION_REQUESTED, {**payload, **more})


def _deadline(run: Execution) -> str | None:
    patience = run.spec.answer_within
    return None if patience is None else iso(now() + timedelta(seconds=patience))


def _wait(run: Execution, waiting: Sequence[Judged]) -> Parked:
    """Park the step on results that come from people or systems outside."""
    requests = [_outside(run, each) for each in waiting]
    replace_calls(
        run.state,
        {e.call.id: e.call.replace(state=ToolCallState.SUBMITTED.value) for e in waiting},
    )
    _note_reply(run, EXTERNAL_REPLY_ID)
    run.emit(
        EventType.REQUIRE_EXTERNAL_EXECUTION,
        run.step,
        replyId=run.step.reply_id,
        toolCalls=[each.call.raw for each in waiting],
    )
    kinds = {fact.payload["kind"] for fact in requests}
    ids = tuple(fact.payload["interaction_id"] for fact in requests)
    return Parked("question" if kinds == {"question"} else "external", ids, tuple(requests))


def _outside(run: Execution, each: Judged) -> NewFact:
    kind = str(each.tool.waits if each.tool else Waits.EXTERNAL)
    more: dict[str, Any] = {}
    if kind == Waits.QUESTION:
        more = {
            "message": str(each.call.input.get("question", "")),
            "choices": each.call.input.get("choices"),
        }
    return _request(run, kind, each.call, **more)


async def _run(run: Execution, ready: Sequence[Judged], decided: Sequence[NewFact]) -> None:
    """Dispatch in one commit, then run all calls together."""
    if not ready:
        run.later(decided)
        return
    dispatches = [_dispatch(run, each) for each in ready]
    await run.flush([*decided, *dispatches], reason="dispatch")
    by_id = {each.call.id: each for each in ready}

    async def core(calls: Sequence[ToolUseBlock]) -> Mapping[str, ToolOutcome]:
        return await _together(run, [by_id[call.id] for call in calls if call.id in by_id])

    outcomes = await around_acting(run.spec.middleware, run.ctx, core)([e.call for e in ready])
    for each in ready:
        outcome = outcomes.get(each.call.id)
        if outcome is None and not run.control.stopping:
            # A middleware has lost it; without a result the call would be run again.
            outcome = ToolOutcome.error(NO_RESULT)
        if outcome is not None and not _answered(run, each.call.id):
            _store(run, each.call, outcome)
    run.control.check()


def _dispatch(run: Execution, each: Judged) -> NewFact:
    payload = {
        "call_id": each.call.id,
        "tool": each.call.name,
        "effect": str(each.tool.effect) if each.tool else "external",
        "call_hash": call_hash(each.call.name, each.call.input),
    }
    return run.log.fact(FactType.TOOL_DISPATCH, payload)


async def _together(run: Execution, ready: Sequence[Judged]) -> Mapping[str, ToolOutcome]:
    """Run the calls in parallel; what an interrupt leaves without an outcome has none here."""
    blocks = {each.call.id: run.step.next_block() for each in ready}
    for each in ready:
        _start_event(run, each.call, blocks[each.call.id])
    running = RunningCalls(run, ready, blocks)
    try:
        await running.finish(early=lambda each, outcome: _commit_early(run, each, outcome))
    finally:
        for each in ready:
            outcome = running.outcomes.get(each.call.id)
            streamed = running.streamed.get(each.call.id, 0)
            _end_events(run, each.call, outcome, blocks[each.call.id], streamed=streamed)
    return running.outcomes


async def _commit_early(run: Execution, each: Judged, outcome: ToolOutcome) -> None:
    """An outside effect's result is committed at once while its siblings still run."""
    _store(run, each.call, outcome)
    await run.flush(reason="result")


def _answered(run: Execution, call_id: str) -> bool:
    return all(call.id != call_id for call in open_calls(run.state.context_mutable()))


def _store(run: Execution, call: ToolUseBlock, outcome: ToolOutcome) -> None:
    block = outcome.block(call.id, call.name)
    run.state.context_mutable().append(tool_message(block, name=run.spec.name))


def _start_event(run: Execution, call: ToolUseBlock, block: str) -> None:
    run.emit(
        EventType.TOOL_RESULT_START,
        run.step,
        block=block,
        replyId=run.step.reply_id,
        toolCallId=call.id,
        toolCallName=call.name,
    )


def _end_events(
    run: Execution, call: ToolUseBlock, outcome: ToolOutcome | None, block: str, *, streamed: int
) -> None:
    """A tool that reported progress shows no second copy of its text."""
    names = {
        "replyId": run.step.reply_id,
        "toolCallId": call.id,
        "toolCallName": call.name,
    }
    length = streamed
    if outcome is not None and not streamed:
        for part in outcome.output:
            if part.type == "text":
                text = str(part.raw.get("text") or "")
                run.emit(
                    EventType.TOOL_RESULT_TEXT_DELTA,
                    run.step,
                    block=block,
                    offset=length,
                    delta=text,
                    **names,
                )
                length += len(text)
            else:
                run.emit(
                    EventType.TOOL_RESULT_DATA_DELTA,
                    run.step,
                    block=block,
                    offset=length,
                    data=part.raw,
                    **names,
                )
    state = outcome.state if outcome else ToolResultState.INTERRUPTED
    run.emit(
        EventType.TOOL_RESULT_END, run.step, block=block, offset=length, state=str(state), **names
    )
