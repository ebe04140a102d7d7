"""Answers: what people decided becomes allowed calls, denied calls and results (spec §5.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentadmin.engine.agents.calls import (
    CONFIRMED,
    call_hash,
    last_assistant,
    open_calls,
    replace_calls,
    result_message,
)
from agentadmin.engine.errors import InvalidInput, TooDeep
from agentadmin.engine.events import EventType
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.messages import (
    Block,
    Msg,
    TextBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    ToolUseBlock,
    tool_message,
)
from agentadmin.engine.messages.vocabulary import (
    ARGUMENT_LEVELS,
    CONFIRM_REPLY_ID,
    EXTERNAL_REPLY_ID,
)
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import PermissionRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentadmin.engine.agents.admission import Answer
    from agentadmin.engine.agents.run import Execution

DENIED = "Permission denied by user"
DECLINED = {
    "question": "The user declined to answer",
    "external": "No result was given",
    "external_execution": "No result was given",
}
"""What a refusal says where nothing was asked to be permitted."""
EXPIRED = "Permission denied: nobody answered in time. Tool: {name}"
CANCELLED = "[ERROR] The question was withdrawn before anybody answered it. Tool: {name}"


def apply(run: Execution, answers: Sequence[Answer]) -> None:
    """Take the answers into the state; they are committed with the run's first flush."""
    calls = {call.id: call for call in open_calls(run.state.context_mutable())}
    changed: dict[str, ToolUseBlock] = {}
    results: list[Msg] = []
    for answer in answers:
        call = calls.get(answer.call_id)
        if call is None:
            continue
        if answer.decision == "approve":
            _approve(run, call, answer, changed)
        else:
            results.append(_result(run, call, answer))
    replace_calls(run.state, changed)
    run.state.context_mutable().extend(results)
    _announce(run, answers, calls, changed, results)
    for answer in answers:
        if not answer.recorded and answer.interaction_id is not None:
            run.first(run.log.fact(FactType.INTERACTION_RESOLVED, fact_of(answer)))


def _approve(
    run: Execution, call: ToolUseBlock, answer: Answer, changed: dict[str, ToolUseBlock]
) -> None:
    """Allow exactly what was approved; an approval of something else is none."""
    if answer.call_hash is not None and answer.call_hash != call_hash(call.name, call.input):
        return
    arguments = call.input if answer.input is None else answer.input
    run.approvers[call.id] = answer.by
    metadata = {**call.metadata, CONFIRMED: call_hash(call.name, arguments)}
    edited = {} if answer.input is None else _arguments(call, arguments)
    changed[call.id] = call.replace(**edited, metadata=metadata, state=ToolCallState.ALLOWED.value)
    permissions = run.state.permission_context
    for index, rule in enumerate(answer.rules):
        permissions = permissions.with_rule(PermissionRule.from_dict(rule, f"rules[{index}]"))
    run.state.permission_context = permissions


def _arguments(call: ToolUseBlock, arguments: dict[str, Any]) -> dict[str, Any]:
    """Other arguments in the layout of the call: AgentScope for Python keeps them as text."""
    if isinstance(call.raw.get("input"), str):
        return {"input": codec.dumps(arguments)}
    return {"input": arguments, "content": None}


def _result(run: Execution, call: ToolUseBlock, answer: Answer) -> Msg:
    name = run.spec.name
    if answer.decision == "deny":
        said = DECLINED.get(answer.kind, DENIED)
        text = f"{said}: {answer.reason}" if answer.reason else said
        return result_message(call, text, ToolResultState.DENIED, name=name)
    if answer.decision == "expired":
        text = EXPIRED.format(name=call.name)
        return result_message(call, text, ToolResultState.DENIED, name=name)
    if answer.decision == "cancelled":
        text = CANCELLED.format(name=call.name)
        return result_message(call, text, ToolResultState.INTERRUPTED, name=name)
    state, output = given_result(answer.answer, "answer")
    block = ToolResultBlock.make(id=call.id, name=call.name, output=output, state=state)
    return tool_message(block, name=name)


def given_result(value: Any, path: str) -> tuple[str, list[Block]]:
    """An answer as it came: text, a result object with `output` and `state`, or any JSON."""
    try:
        codec.dumps(value, levels=ARGUMENT_LEVELS)
    except TooDeep as error:
        raise error.under(path) from None
    state = ToolResultState.SUCCESS.value
    if isinstance(value, dict) and "output" in value:
        given = value.get("state")
        state = _ended(given, path) if given and given != ToolResultState.RUNNING else state
        value = value["output"]
    if isinstance(value, list) and all(isinstance(v, dict) and "type" in v for v in value):
        return state, [Block.from_dict(raw, f"{path}[{i}]") for i, raw in enumerate(value)]
    return state, [TextBlock.make(value if isinstance(value, str) else codec.dumps(value))]


def _ended(state: Any, path: str) -> str:
    ended = [member.value for member in ToolResultState if member is not ToolResultState.RUNNING]
    if state not in ended:
        raise InvalidInput(f"must be one of {', '.join(ended)}", path=f"{path}.state")
    return str(state)


def fact_of(answer: Answer) -> dict[str, Any]:
    return {
        "interaction_id": answer.interaction_id,
        "decision": answer.decision,
        "by": answer.by,
        "reason": answer.reason,
        "answer": answer.answer,
        "rules": list(answer.rules),
        "input": answer.input,
    }


def _announce(
    run: Execution,
    answers: Sequence[Answer],
    calls: dict[str, ToolUseBlock],
    changed: dict[str, ToolUseBlock],
    results: Sequence[Msg],
) -> None:
    confirmations = [
        {
            "confirmed": answer.decision == "approve",
            "toolCall": changed.get(answer.call_id, calls[answer.call_id]).raw,
            "rules": list(answer.rules) or None,
        }
        for answer in answers
        if answer.call_id in calls and answer.decision in {"approve", "deny", "expired"}
    ]
    if confirmations:
        reply_id = _reply_id(run, CONFIRM_REPLY_ID)
        run.emit(EventType.USER_CONFIRM_RESULT, replyId=reply_id, confirmResults=confirmations)
    given = [answer.call_id for answer in answers if answer.decision == "answer"]
    outside = [
        block.raw
        for message in results
        for block in message.blocks(ToolResultBlock)
        if block.id in given
    ]
    if outside:
        reply_id = _reply_id(run, EXTERNAL_REPLY_ID)
        run.emit(EventType.EXTERNAL_EXECUTION_RESULT, replyId=reply_id, toolResults=outside)


def _reply_id(run: Execution, key: str) -> str | None:
    """The id of the acting step that asked."""
    context = run.state.context_mutable()
    index = last_assistant(context)
    return None if index is None else context[index].metadata.get(key)
