"""Direct calls: what a call's messages mean on a thread in its present state (spec §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agentadmin.engine.agents.admission import Admission, Answer
from agentadmin.engine.agents.calls import open_calls
from agentadmin.engine.errors import InteractionPending, InvalidInput, NeedsReconcile
from agentadmin.engine.identity import new_id
from agentadmin.engine.messages import (
    Msg,
    Role,
    ToolCallState,
    ToolResultBlock,
    ToolUseBlock,
    user_message,
)
from agentadmin.engine.messages.vocabulary import CONFIRM_RESULTS

if TYPE_CHECKING:
    from agentadmin.engine.agents.log import StateLog
    from agentadmin.engine.runtime_context import RuntimeContext

type OnPending = Literal["reject", "cancel"]
type Messages = str | Msg | Sequence[Msg] | None


def messages_of(given: Messages) -> list[Msg]:
    """What a caller may pass as input, as messages."""
    if given is None:
        return []
    if isinstance(given, str):
        return [user_message(given)]
    return [given] if isinstance(given, Msg) else list(given)


def confirm_message(results: Iterable[dict[str, Any]]) -> Msg:
    """A message that answers permission questions: `{confirmed, toolCall, rules}` each."""
    return user_message((), metadata={CONFIRM_RESULTS: list(results)})


def admit(
    log: StateLog,
    messages: Sequence[Msg],
    ctx: RuntimeContext,
    *,
    run_id: str,
    on_pending: OnPending,
) -> Admission:
    """Raises NeedsReconcile, InteractionPending or InvalidInput when the call cannot go on."""
    calls = open_calls(log.state.context_mutable())
    unknown = [call.id for call in calls if call.id in log.uncertain]
    if unknown:
        raise NeedsReconcile(unknown)
    answers = _answers(log, messages, calls)
    if answers or (not messages and (calls or log.open_turn())):
        return _resume(log, answers, calls, ctx, run_id, messages)
    if not messages:
        raise InvalidInput("there is no message, and nothing to go on with", path="messages")
    waiting = _waiting(log, calls)
    if waiting and on_pending == "reject":
        raise InteractionPending(waiting)
    return Admission(ctx.turn_id or new_id(), "direct", input=messages, run_id=run_id)


def _resume(
    log: StateLog,
    answers: Sequence[Answer],
    calls: Sequence[ToolUseBlock],
    ctx: RuntimeContext,
    run_id: str,
    messages: Sequence[Msg],
) -> Admission:
    """Go on with the turn that asked; a plain message beside an answer is not part of it."""
    waiting = _waiting(log, calls)
    if not answers and waiting:
        raise InteractionPending(waiting)
    turns = [asked.turn_id for asked in log.interactions.values() if asked.turn_id]
    turn_id = turns[0] if turns else ctx.turn_id or log.open_turn() or new_id()
    return Admission(turn_id, "resume", answers=answers, run_id=run_id)


def _waiting(log: StateLog, calls: Sequence[ToolUseBlock]) -> list[str]:
    """The ids of open questions: those of the journal, else those of the calls themselves."""
    ids = [asked.id for asked in log.interactions.values() if asked.resolved is None]
    parked = (ToolCallState.ASKING, ToolCallState.SUBMITTED)
    return ids or [call.id for call in calls if call.state in parked]


def _answers(log: StateLog, messages: Sequence[Msg], calls: Sequence[ToolUseBlock]) -> list[Answer]:
    by_call = {
        asked.request["call_id"]: asked.id
        for asked in log.interactions.values()
        if asked.resolved is None
    }
    answers = [
        *_confirmations(messages, calls, by_call),
        *_outside_results(messages, calls, by_call),
    ]
    ids = [answer.call_id for answer in answers]
    if len(ids) != len(set(ids)):
        raise InvalidInput("a call is answered twice", path="messages")
    return answers


def _confirmations(
    messages: Sequence[Msg], calls: Sequence[ToolUseBlock], by_call: dict[str, str]
) -> list[Answer]:
    asking = {call.id for call in calls if call.state == ToolCallState.ASKING}
    entries = [
        entry for message in messages for entry in message.metadata.get(CONFIRM_RESULTS) or ()
    ]
    answers = []
    for index, entry in enumerate(entries):
        path = f"{CONFIRM_RESULTS}[{index}]"
        call = entry.get("toolCall") if isinstance(entry, dict) else None
        if not isinstance(call, dict) or call.get("id") not in asking:
            raise InvalidInput("names no call that is asking", path=f"{path}.toolCall.id")
        answers.append(_confirmation(entry, call, by_call))
    return answers


def _confirmation(entry: dict[str, Any], call: dict[str, Any], by_call: dict[str, str]) -> Answer:
    """The arguments may come as text: AgentScope for Python keeps them so."""
    given = call.get("input")
    return Answer(
        call_id=call["id"],
        decision="approve" if entry.get("confirmed") is True else "deny",
        interaction_id=by_call.get(call["id"]),
        reason=entry.get("reason"),
        rules=tuple(entry.get("rules") or ()),
        input=ToolUseBlock(call).input if isinstance(given, str) else given,
        recorded=False,
    )


def _outside_results(
    messages: Sequence[Msg], calls: Sequence[ToolUseBlock], by_call: dict[str, str]
) -> list[Answer]:
    pending = {call.id for call in calls}
    blocks = [
        block
        for message in messages
        if message.role == Role.TOOL
        for block in message.blocks(ToolResultBlock)
    ]
    for block in blocks:
        if block.id not in pending:
            raise InvalidInput(f"{block.id} is no pending call", path="messages")
    return [
        Answer(
            call_id=block.id,
            decision="answer",
            interaction_id=by_call.get(block.id),
            kind="external",
            answer={"output": [part.raw for part in block.output], "state": block.state},
            recorded=False,
        )
        for block in blocks
    ]
