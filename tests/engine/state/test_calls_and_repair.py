"""Calls and results pair up, and what does not is closed or mended."""

from __future__ import annotations

from typing import Any

from agentadmin.engine.agents.calls import open_calls as loop_open_calls
from agentadmin.engine.context.request import build, is_sound
from agentadmin.engine.messages import (
    Block,
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.calls import cancel_pending, open_calls
from agentadmin.engine.state.repair import CUT_ARGUMENTS, LOST_RESULT, repair
from tests.engine.state import fixtures


def call(id: str, state: str = "pending", **fields: Any) -> ToolUseBlock:
    return ToolUseBlock.make(id=id, name=f"tool_{id}", state=state, **fields)


def result(id: str, text: str = "ok", **fields: Any) -> Msg:
    return tool_message(
        ToolResultBlock.make(id=id, name=f"tool_{id}", output=text, **fields), name="bot"
    )


def says(*blocks: Block) -> Msg:
    return assistant_message(blocks, name="bot")


def state_of(*messages: Msg) -> AgentState:
    state = AgentState.new("s")
    state.set_context(messages)
    return state


def results(state: AgentState) -> list[tuple[str, str, str]]:
    return [
        (block.id, block.state, block.text)
        for message in state.context
        for block in message.blocks(ToolResultBlock)
    ]


def kinds(state: AgentState, uncertain: set[str] | None = None) -> list[tuple[str, str]]:
    return [(each.kind.value, each.call_id) for each in repair(state, uncertain or set())[1]]


def test_open_calls_are_those_without_a_result_in_order() -> None:
    state = state_of(
        says(TextBlock.make("a"), call("1"), call("2", "asking")), result("1"), says(call("3"))
    )
    found = open_calls(state)
    assert [(c.call_id, c.state, c.message_index, c.block_index) for c in found] == [
        ("2", "asking", 0, 2),
        ("3", "pending", 2, 0),
    ]
    assert (found[0].name, found[0].input, found[0].message_id) == (
        "tool_2",
        {},
        state.context[0].id,
    )


def test_a_reused_call_id_is_open_again() -> None:
    state = state_of(says(call("1")), result("1"), says(call("1")))
    assert [each.message_index for each in open_calls(state)] == [2]


def test_a_suspended_placeholder_leaves_its_call_open() -> None:
    waiting = result("1", metadata={"agentscope_suspended": True}, state="running")
    assert len(open_calls(state_of(says(call("1", "submitted")), waiting))) == 1


def test_a_result_without_a_state_or_still_running_is_a_result() -> None:
    bare = ToolResultBlock({"type": "tool_result", "id": "1", "name": "t", "output": []})
    for block in (bare, bare.replace(state="running"), bare.replace(state="odd")):
        state = state_of(says(call("1")), tool_message(block, name="bot"))
        assert open_calls(state) == []
        assert loop_open_calls(state.context) == []
        assert is_sound(state.context)
        assert repair(state, set())[1] == []
        assert len(build(state, "").messages) == 2


def test_a_settled_result_is_no_placeholder_whatever_its_metadata_say() -> None:
    settled = result("1", metadata={"agentscope_suspended": True}, state="success")
    assert open_calls(state_of(says(call("1")), settled)) == []


def test_closing_a_call_puts_its_result_in_place_of_the_placeholder() -> None:
    waiting = result("1", "later", metadata={"agentscope_suspended": True}, state="running")
    state = state_of(user_message("go"), says(call("1"), call("2")), waiting, result("2"))
    mended, _ = repair(state, set())
    assert results(mended) == [
        ("1", "error", LOST_RESULT.format(name="tool_1")),
        ("2", "success", "ok"),
    ]
    assert mended.context[2].id == waiting.id
    assert len(build(mended, "").messages) == 4


def test_pairing_walks_blocks_in_one_message_too() -> None:
    block = ToolResultBlock.make(id="1", name="t", output="x")
    state = state_of(says(call("1"), block, call("2")))
    assert [each.call_id for each in open_calls(state)] == ["2"]


def test_cancelling_answers_the_named_calls_and_touches_nothing_else() -> None:
    state = state_of(says(call("1", "asking"), call("2")), result("3"), user_message("later"))
    before = state.to_json()
    cancelled = cancel_pending(state, "[ERROR] stopped. Tool: {name}", {"2"})
    assert state.to_json() == before
    assert [message.role for message in cancelled.context] == ["ASSISTANT", "TOOL", "TOOL", "USER"]
    assert results(cancelled)[-1] == ("2", "interrupted", "[ERROR] stopped. Tool: tool_2")
    assert [c.call_id for c in open_calls(cancelled)] == ["1"]
    assert [c.state for c in cancelled.context[0].blocks(ToolUseBlock)] == ["asking", "finished"]
    assert cancelled.context[2].name == "bot"


def test_cancelling_without_names_closes_all_in_call_order() -> None:
    state = state_of(says(call("1"), call("2")), says(call("3")))
    cancelled = cancel_pending(state, "x")
    assert open_calls(cancelled) == []
    assert [id for id, _, _ in results(cancelled)] == ["1", "2", "3"]
    assert [message.role for message in cancelled.context] == [
        "ASSISTANT",
        "TOOL",
        "TOOL",
        "ASSISTANT",
        "TOOL",
    ]


def test_the_recorded_parked_call_can_be_cancelled() -> None:
    cancelled = cancel_pending(fixtures.full_state(), "stopped")
    assert open_calls(cancelled) == []
    assert cancelled.permission_context is not None


def test_nothing_is_repaired_where_all_is_well() -> None:
    state = state_of(user_message("hi"), says(call("1")), result("1"))
    assert repair(state, set()) == (state, [])
    assert repair(state, set())[0] is state


def test_a_call_lost_in_a_crash_gets_an_error_result() -> None:
    state = state_of(says(call("1"), call("2")), result("2"), user_message("go on"))
    mended, repairs = repair(state, set())
    assert [each.to_dict() for each in repairs] == [
        {
            "kind": "orphan_call",
            "call_id": "1",
            "tool_name": "tool_1",
            "message_id": state.context[0].id,
            "note": "had no result",
        }
    ]
    assert results(mended)[-1] == ("1", "error", LOST_RESULT.format(name="tool_1"))
    assert mended.context[-1] == state.context[-1]
    assert kinds(mended) == []


def test_an_uncertain_call_is_left_to_its_caller() -> None:
    assert kinds(state_of(says(call("1"))), {"1"}) == []


def test_a_parked_message_is_left_alone_as_a_whole() -> None:
    assert kinds(state_of(says(call("1", "asking"), call("2"), call("3", "allowed")))) == []
    assert kinds(state_of(says(call("1", "submitted"), call("2")))) == []


def test_the_first_result_counts_and_later_ones_go() -> None:
    state = state_of(says(call("1")), result("1", "first"), result("1", "second"))
    mended, _ = repair(state, set())
    assert kinds(state) == [("duplicate_result", "1")]
    assert results(mended) == [("1", "success", "first")]
    assert len(mended.context) == 2


def test_a_call_that_stands_twice_in_one_message_is_asked_once() -> None:
    state = state_of(says(call("1", "asking"), call("1", "asking"), call("2", "asking")))
    mended, _ = repair(state, set())
    assert kinds(state) == [("duplicate_call", "1")]
    assert [open_.call_id for open_ in open_calls(mended)] == ["1", "2"]
    assert repair(mended, set())[1] == []


def test_an_id_that_a_later_message_uses_again_is_another_call() -> None:
    state = state_of(says(call("1")), result("1"), says(call("1", "asking")))
    assert kinds(state) == []


def test_a_placeholder_yields_to_the_real_result() -> None:
    placeholder = result("1", "wait", metadata={"agentscope_suspended": True}, state="running")
    state = state_of(says(call("1", "submitted")), placeholder, result("1", "real"))
    assert results(repair(state, set())[0]) == [("1", "success", "real")]


def test_a_result_without_a_call_goes() -> None:
    state = state_of(user_message("hi"), result("9"))
    assert kinds(state) == [("stray_result", "9")]
    assert len(repair(state, set())[0].context) == 1


def test_truncated_arguments_are_emptied_and_the_call_answered() -> None:
    state = state_of(says(call("1", "finished", content='{"path": "/et')))
    mended, _ = repair(state, set())
    assert kinds(state) == [("truncated_arguments", "1"), ("orphan_call", "1")]
    (block,) = mended.context[0].blocks(ToolUseBlock)
    assert (block.input, block.content, block.truncated) == ({}, "{}", False)
    assert results(mended) == [("1", "error", CUT_ARGUMENTS.format(name="tool_1"))]
    assert kinds(mended) == []


def test_pythons_layout_is_mended_in_place() -> None:
    raw = {
        "role": "assistant",
        "name": "Lab",
        "content": [
            {"type": "tool_result", "id": "0", "name": "t", "output": "stray"},
            {"type": "tool_call", "id": "1", "name": "t", "input": '{"a', "state": "finished"},
            {"type": "tool_result", "id": "1", "name": "t", "output": "x", "state": "interrupted"},
            {"type": "tool_call", "id": "2", "name": "t", "input": "{}", "state": "pending"},
        ],
    }
    state = state_of(Msg.from_dict(raw))
    mended, _ = repair(state, set())
    assert kinds(state) == [
        ("truncated_arguments", "1"),
        ("stray_result", "0"),
        ("orphan_call", "2"),
    ]
    first, second = mended.context
    assert [block.raw.get("input") for block in first.content] == ["{}", None, "{}"]
    assert first.content[2].raw["state"] == "finished"
    assert second.blocks(ToolResultBlock)[0].id == "2"
    assert kinds(mended) == []
