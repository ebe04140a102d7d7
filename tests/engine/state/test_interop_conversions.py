"""A session that goes on here goes out to the other systems, and what that costs is told."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.messages import (
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.calls import cancel_pending, open_calls
from agentadmin.engine.state.interop import Format, Source, parked_calls
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentadmin.engine.state.plan import PlanModeContext
from tests.engine.state import fixtures


def paths(written: interop.Written) -> dict[str, str]:
    return {loss.path: loss.kind for loss in written.losses}


def types(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def with_round(state: AgentState) -> AgentState:
    """The state after a turn with one call."""
    call = ToolUseBlock.make(id="c9", name="add", input={"a": 1}, state="finished")
    result = ToolResultBlock.make(id="c9", name="add", output="2")
    more = [
        user_message("go on", name="dana"),
        assistant_message([TextBlock.make("I will."), call], name="Lab", usage={"inputTokens": 5}),
        tool_message(result, name="Lab"),
        assistant_message("Two.", name="Lab", usage={"inputTokens": 7, "time": 0.5}),
    ]
    state.context_mutable().extend(more)
    return state


def test_a_continued_python_session_keeps_its_file_and_folds_the_new_reply() -> None:
    value = codec.loads(fixtures.python_text("s01_text_two_turns.json"))
    state = with_round(interop.read(value))
    written = interop.write(state, Format.PYTHON, source=Source(Format.PYTHON, value))
    context = written.value["context"]
    assert context[:4] == value["context"]
    asked, reply = context[4:]
    assert (asked["role"], asked["name"]) == ("user", "dana")
    assert "T" in asked["created_at"]
    assert types(reply) == ["text", "tool_call", "tool_result", "text"]
    assert reply["content"][1]["input"] == '{"a":1}'
    assert reply["usage"]["input_tokens"] == 12
    assert {name: part for name, part in written.value.items() if name != "context"} == {
        name: part for name, part in value.items() if name != "context"
    }
    assert paths(written) == {
        "context[6].id": "dropped",
        "context[6].timestamp": "dropped",
        "context[7].usage.time": "dropped",
    }
    assert len(open_calls(interop.read(written.value))) == 0


def test_an_answered_call_goes_on_in_the_message_that_asked() -> None:
    value = codec.loads(fixtures.python_text("s03_parked_asking.json"))
    state = cancel_pending(interop.read(value), "stopped {name}")
    assert len(state.context) == 6
    written = interop.write(state, Format.PYTHON, source=Source(Format.PYTHON, value))
    user, reply = written.value["context"]
    assert user == value["context"][0]
    assert types(reply) == ["hint", "text", *["tool_call"] * 4, *["tool_result"] * 4]
    assert {block["state"] for block in reply["content"][2:6]} == {"finished"}
    assert reply["content"][2]["suggested_rules"]
    assert reply["id"] == value["context"][1]["id"]
    assert value == codec.loads(fixtures.python_text("s03_parked_asking.json"))


def test_changed_parts_are_written_and_the_others_stay() -> None:
    value = codec.loads(fixtures.python_text("s13_big_500.json"))
    value["permission_context"]["allow_rules"] = {
        "add": [{"tool_name": "add", "rule_content": "", "behavior": "ALLOW", "source": "s"}]
    }
    state = interop.read(value)
    state.permission_context = state.permission_context.with_mode(PermissionMode.EXPLORE)
    state.summary = "so far"
    written = interop.write(state, Format.PYTHON, source=Source(Format.PYTHON, value))
    expected = {**value, "summary": "so far"}
    expected["permission_context"] = {**value["permission_context"], "mode": "explore"}
    assert codec.dumps(written.value) == codec.dumps(expected)
    assert written.losses == ()


def test_a_java_session_becomes_one_of_pythons() -> None:
    state = fixtures.full_state()
    written = interop.write(state, Format.PYTHON)
    asked, reply = written.value["context"]
    assert asked["created_at"] == "2026-06-02T09:15:00.123000"
    assert types(reply) == ["thinking", "text", "tool_call", "tool_result", "text", "tool_call"]
    assert reply["content"][2]["input"] == '{"path":"README.md"}'
    assert reply["content"][3]["created_at"] == "2026-06-02T09:15:01.789000"
    assert reply["content"][5]["state"] == "asking"
    assert written.value["reply_context"]["reply_id"] == reply["id"]
    assert reply["usage"]["cache_input_tokens"] == 64
    told = paths(written)
    for path in ("user_id", "shutdown_interrupted", "plan_mode_context.plan_active"):
        assert told[path] == "dropped"
    assert told["tool_context.spawn_registry"] == "dropped"
    assert told["reply_id"] == "changed"
    back = interop.read(written.value)
    assert [call.call.call_id for call in parked_calls(back)] == ["call_2"]


@pytest.mark.parametrize("name", fixtures.expected_facts())
def test_a_python_session_becomes_one_of_javas(name: str) -> None:
    state = interop.read(fixtures.python_document(name))
    written = interop.write(state, Format.JAVA)
    assert interop.detect(written.value) is Format.JAVA
    back = interop.read(codec.loads(written.text()))
    assert [c.call_id for c in open_calls(back)] == [c.call_id for c in open_calls(state)]
    assert [c.call.input for c in parked_calls(back)] == [c.call.input for c in parked_calls(state)]
    texts = ["\n".join(m.text for m in each.context if m.text) for each in (back, state)]
    assert texts[0] == texts[1]
    for message in written.value["context"]:
        assert list(message) == list(fixtures.document("msg_user.json"))
        allowed = {"USER": {"text", "data"}, "TOOL": {"tool_result"}}.get(message["role"])
        assert allowed is None or set(types(message)) <= allowed
    ids = [message["id"] for message in written.value["context"]]
    assert len(set(ids)) == len(ids)
    usage = [m["usage"]["inputTokens"] for m in written.value["context"] if m["usage"]]
    assert sum(usage) == fixtures.expected_facts()[name]["usage_total"]["input"]


def test_a_parked_question_of_pythons_is_one_of_javas() -> None:
    state = interop.read(fixtures.python_document("s03_parked_asking.json"))
    written = interop.write(state, Format.JAVA)
    reply = written.value["context"][-1]
    assert reply["metadata"] == {"agentscope_confirm_request_reply_id": state.reply_id}
    assert reply["content"][2] == {
        "type": "tool_use",
        "id": "call_0010",
        "name": "write_note",
        "input": {"path": "/data/notes.md", "text": "sensor B drifts"},
        "content": '{"path": "/data/notes.md", "text": "sensor B drifts"}',
        "metadata": {},
        "state": "asking",
    }
    assert paths(written)["context[1].content[2].suggested_rules"] == "dropped"


def test_structured_output_and_its_thoughts_reach_java() -> None:
    raw = fixtures.python_document("s10_multimodal_structured.json")
    raw["context"][3] |= {"structured_output": {"title": "R"}, "finished_reason": "interrupted"}
    raw["context"][1] |= {"error": {"type": "E", "message": "m"}, "finished_reason": "error"}
    written = interop.write(interop.read(raw), Format.JAVA)
    first, result = written.value["context"][3:]
    assert first["metadata"] == {
        "_structured_output": {"title": "R"},
        "agentscope_generate_reason": "INTERRUPTED",
    }
    assert first["content"][1]["metadata"] == {"redacted_thinking_data": "b64=="}
    assert first["content"][0]["hint"].startswith("<system-reminder>You're required")
    assert result["role"] == "TOOL"
    picture = written.value["context"][0]["content"][2]
    assert picture["source"]["mime_type"] == "image/png"
    told = paths(written)
    assert told["agentscope_python.reply_context"] == "dropped"
    assert told["context[1].error"] == "dropped"
    assert told["context[1].finished_reason"] == "dropped"


def test_a_summary_of_blocks_becomes_text_in_java() -> None:
    state = interop.read(fixtures.python_document("s15_multi_speaker_summary_blocks.json"))
    written = interop.write(state, Format.JAVA)
    assert written.value["summary"] == "Earlier: setup done."
    assert "summary_blocks" not in written.value
    assert paths(written)["summary"] == "changed"


def native_state() -> AgentState:
    """A state with everything that only we have."""
    rules = (
        PermissionRule("add", None, Behavior.ALLOW, "session", "2030-01-01T00:00:00Z"),
        PermissionRule("add", "x", Behavior.ALLOW, "session"),
    )
    deny = PermissionRule("rm", None, Behavior.DENY, "session", "2030-01-01T00:00:00Z")
    state = AgentState.new("s", "u", "side")
    state.permission_context = PermissionContext(
        allow_rules={"add": rules, "sub": rules[:1]}, deny_rules={"rm": (deny,)}
    )
    state.plan_mode_context = PlanModeContext(plan_active=True, current_plan_file="p")
    state.tasks_context = state.tasks_context.with_tasks(())
    return with_round(state)


@pytest.mark.parametrize("kind", [Format.JAVA, Format.PYTHON])
def test_what_was_allowed_for_a_time_is_not_allowed_for_ever(kind: Format) -> None:
    written = interop.write(native_state(), kind)
    permissions = written.value["permission_context"]
    assert [rule["rule_content"] for rule in permissions["allow_rules"]["add"]] == ["x"]
    assert "sub" not in permissions["allow_rules"]
    assert list(permissions["deny_rules"]["rm"][0]) == [
        *("tool_name", "rule_content", "behavior", "source")
    ]
    told = paths(written)
    assert told["permission_context.allow_rules.add[0]"] == "dropped"
    assert told["permission_context.deny_rules.rm[0].expires_at"] == "dropped"
    assert told["thread_id"] == ("ignored" if kind is Format.JAVA else "dropped")
    assert told["tasks_context.revision"] == "ignored"


def test_java_reads_what_a_run_here_adds_as_it_stands() -> None:
    value = fixtures.document("agent_state_full.json")
    state = with_round(interop.read(value))
    written = interop.write(state, Format.JAVA, source=Source(Format.JAVA, value))
    assert written.value == {**value, "context": [message.raw for message in state.context]}
    assert written.losses == ()


def test_a_placeholder_becomes_a_submitted_call_until_its_result_is_there() -> None:
    call = ToolUseBlock.make(id="c", name="n", state="allowed")
    waits = ToolResultBlock.make(
        id="c", name="n", metadata={"agentscope_suspended": True}, state="running"
    )
    state = AgentState.new("s")
    state.set_context([assistant_message([call], name="a"), tool_message(waits, name="a")])
    written = interop.write(state, Format.PYTHON)
    [reply] = written.value["context"]
    assert [block["state"] for block in reply["content"]] == ["submitted"]
    assert paths(written)["context[1].content[0]"] == "changed"
    state.context_mutable().append(tool_message(ToolResultBlock.make(id="c", name="n"), name="a"))
    [reply] = interop.write(state, Format.PYTHON).value["context"]
    assert [block["state"] for block in reply["content"]] == ["finished", "success"]
    assert open_calls(interop.read(interop.write(state, Format.PYTHON).value)) == []


def test_each_speaker_and_each_interruption_keeps_a_message_of_its_own() -> None:
    state = AgentState.new("s")
    stray = ToolResultBlock.make(id="gone", name="n", output="late")
    state.set_context(
        [
            tool_message(stray, name="a"),
            assistant_message("half", name="a"),
            assistant_message("I was interrupted.", name="a"),
            assistant_message("I am b.", name="b"),
        ]
    )
    written = interop.write(state, Format.PYTHON).value["context"]
    assert [types(message) for message in written] == [["tool_result", "text"], *[["text"]] * 2]
