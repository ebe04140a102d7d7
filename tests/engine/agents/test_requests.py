"""What a request is built from, and which contexts are refused."""

from __future__ import annotations

import pytest

from agentadmin.engine.context.request import build, check_pairs, is_sound
from agentadmin.engine.errors import InteractionPending, NeedsReconcile, StateUnreadable
from agentadmin.engine.messages import (
    Msg,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.messages.vocabulary import SUSPENDED
from agentadmin.engine.state.agent_state import AgentState


def call(call_id: str, state: str = "pending") -> Msg:
    return assistant_message([ToolUseBlock.make(id=call_id, name="t", state=state)], name="a")


def result(call_id: str, state: str = "success") -> Msg:
    block = ToolResultBlock.make(id=call_id, name="t", output="x", state=state)
    return tool_message(block, name="a")


def placeholder(call_id: str) -> Msg:
    message = result(call_id, "running")
    return message.with_block(0, message.content[0].replace(metadata={SUSPENDED: True}))


def test_open_calls_are_refused_by_what_they_wait_for() -> None:
    with pytest.raises(InteractionPending):
        check_pairs([call("1", "asking")])
    with pytest.raises(NeedsReconcile):
        check_pairs([call("1")])
    with pytest.raises(NeedsReconcile):
        check_pairs([call("1"), placeholder("1")])
    assert check_pairs([call("1"), result("1", "running")]) == set()
    with pytest.raises(StateUnreadable):
        check_pairs([result("1")])


def test_a_reused_id_is_told_apart_in_the_request_only() -> None:
    state = AgentState.new("s")
    state.set_context([call("1"), result("1"), call("1"), result("1"), user_message("go")])
    built = build(state, "")
    ids = [b.id for m in built.messages for b in m.content if hasattr(b, "id")]
    assert ids == ["1", "1", "1~2", "1~2"]
    assert state.context[2].blocks(ToolUseBlock)[0].id == "1"


def test_a_long_summary_is_recorded_cut_and_sent_whole() -> None:
    state = AgentState.new("s")
    state.set_summary("x" * 10_000)
    built = build(state, "")
    assert len(built.transient[0]["text"]) == 8192
    assert built.transient[0]["chars"] > 10_000
    assert "x" * 10_000 in built.messages[0].text


def test_sound_contexts_are_told_from_those_that_may_need_mending() -> None:
    assert is_sound([user_message("hi"), call("1"), result("1")])
    cut = assistant_message([ToolUseBlock.make(id="1", name="t", content='{"x')], name="a")
    null = Msg({"role": "USER", "content": [None]})
    assert is_sound([null])
    for context in ([call("1")], [result("1")], [call("1"), call("1")], [cut, result("1")]):
        assert not is_sound(context)
