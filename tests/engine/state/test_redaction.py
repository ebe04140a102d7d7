"""A redacted message says nothing, and everything still pairs up."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.context.request import check_pairs
from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.journal.redacting import Redaction, scrubbed
from agentadmin.engine.messages import (
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.messages.checks import check_message
from agentadmin.engine.state import codec
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import apply, diff, effects
from agentadmin.engine.state.redaction import is_redacted, redacted
from tests.engine.state.asking import NOW

SECRET = "4111-1111"


def conversation() -> AgentState:
    state = AgentState.new("s-1", "alice")
    call = ToolUseBlock.make(id="c1", name="pay", input={"card": SECRET}, content=f'"{SECRET}"')
    state.set_context(
        [
            user_message(f"pay with {SECRET}", metadata={"card": SECRET}),
            assistant_message([TextBlock.make(SECRET), call], name="demo"),
            tool_message(ToolResultBlock.make(id="c1", name="pay", output=SECRET), name="demo"),
            user_message("thanks"),
        ]
    )
    return state


def redact(state: AgentState, index: int, **given: Any) -> AgentState:
    operation = {"op": "redact_message", "message_id": state.context[index].id, **given}
    return apply(state, operation, now=NOW)


def test_every_kind_of_message_loses_its_words_and_keeps_its_place() -> None:
    before = after = conversation()
    for index in range(3):
        after = redact(after, index, replacement="[gone]")
    assert SECRET not in codec.dumps(after.to_dict())
    check_pairs(after.context)
    for old, new in zip(before.context, after.context, strict=True):
        assert (old.id, old.role, old.name, old.timestamp) == (
            new.id,
            new.role,
            new.name,
            new.timestamp,
        )
        check_message(new.raw)
    assert after.context[3] is before.context[3]
    assert after.context[0].text == "[gone]"
    assert after.context[2].content[0].raw["output"][0]["text"] == "[gone]"
    assert all(is_redacted(message.raw) for message in after.context[:3])


def test_the_difference_and_the_effect_say_it_without_saying_what() -> None:
    before = conversation()
    after = redact(before, 0)
    assert after.context[0].text == "[redacted]"
    assert SECRET not in codec.dumps(diff(before, after))
    assert effects(before, after) == [
        "1 message redacted: the content is erased for good, history included."
    ]


def test_an_unknown_message_is_refused_unless_history_has_it() -> None:
    state = conversation()
    operation = {"op": "redact_message", "message_id": "nobody"}
    with pytest.raises(InvalidOperation) as caught:
        apply(state, operation, now=NOW)
    assert caught.value.path == "message_id"
    assert apply(state, {**operation, "in_history": True}, now=NOW) == state
    for wrong in ({}, {"message_id": ""}, {"message_id": 5}):
        with pytest.raises(InvalidOperation):
            apply(state, {"op": "redact_message", **wrong}, now=NOW)
    with pytest.raises(InvalidOperation) as caught:
        redact(state, 0, replacement="x" * 2001)
    assert caught.value.path == "replacement"


def test_arguments_that_came_as_text_stay_text() -> None:
    block = {"type": "tool_call", "id": "c", "name": "pay", "input": f'{{"card":"{SECRET}"}}'}
    once = redacted(Msg({"id": "m", "role": "assistant", "content": [block]}), "x")
    assert once.raw["content"][-1]["input"] == "{}"
    assert redacted(once, "x") == once


def test_a_fact_loses_the_message_and_keeps_the_rest() -> None:
    state = conversation()
    raws = [message.raw for message in state.context]
    redaction = Redaction.of(str(raws[1]["id"]), "[gone]", [{"message": raws[1]}])
    asked = {"interaction_id": "i1", "call_id": "c1", "input": {"card": SECRET}, "message": SECRET}
    redaction = redaction.asking([asked, {"interaction_id": "i2", "call_id": "other"}])
    start = scrubbed(FactType.TURN_START, {"by": {"name": "olga"}, "input": raws}, redaction)
    assert start["by"] == {"name": "olga"}
    assert [raw == given for raw, given in zip(start["input"], raws, strict=True)] == [
        True,
        False,
        True,
        True,
    ]
    replaced = {"items": [{"seq": 4}, {"item": "x", "message": raws[1]}]}
    found = scrubbed(FactType.CONTEXT_REPLACED, replaced, redaction)
    assert found["items"][0] == {"seq": 4}
    assert SECRET not in codec.dumps(found)
    assert SECRET not in codec.dumps(scrubbed(FactType.INTERACTION_REQUESTED, asked, redaction))
    other = {"interaction_id": "i2", "input": {"card": "kept"}, "answer": None}
    assert scrubbed(FactType.INTERACTION_RESOLVED, other, redaction) == other
    edited = {"interaction_id": "i1", "input": {"card": SECRET}, "answer": None}
    assert scrubbed(FactType.INTERACTION_RESOLVED, edited, redaction)["input"] == {}
