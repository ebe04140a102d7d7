"""Files that AgentScope for Python saved come in with their facts and go out to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.messages import UnknownBlock
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.interop import Format, ParkedKind, Source, parked_calls
from tests.engine.state import fixtures
from tests.engine.state.python_facts import facts_of

FACTS = fixtures.expected_facts()
MESSAGE = {"name": "u", "role": "user", "content": [], "id": "m", "created_at": "t"}


def again(raw: Any) -> Any:
    """What a document becomes when it is read and written without its source."""
    return interop.write(interop.read(raw, Format.PYTHON), Format.PYTHON).value


@pytest.mark.parametrize("name", FACTS)
def test_a_file_comes_in_with_the_facts_of_its_answer_key(name: str) -> None:
    text = fixtures.python_text(name)
    value = codec.loads(text)
    assert interop.detect(value) is Format.PYTHON
    facts = facts_of(interop.read(value))
    written = interop.write(interop.read(value), Format.PYTHON)
    facts["reload_dump_equal"] = written.text() == text
    assert facts == FACTS[name]


@pytest.mark.parametrize("name", FACTS)
def test_an_untouched_file_goes_out_to_the_byte(name: str) -> None:
    text = fixtures.python_text(name)
    value = codec.loads(text)
    source = Source(Format.PYTHON, value)
    for given in (None, source):
        written = interop.write(interop.read(value), Format.PYTHON, source=given)
        assert written.text() == text
        assert written.losses == ()


@pytest.mark.parametrize("name", FACTS)
def test_a_native_document_of_it_holds_the_whole_file(name: str) -> None:
    state = interop.read(fixtures.python_document(name))
    document = codec.loads(interop.write(state).text())
    assert interop.detect(document) is Format.NATIVE
    back = interop.read(document)
    assert back == state
    assert interop.write(back, Format.PYTHON).text() == fixtures.python_text(name)


def test_the_layout_of_2_0_2_goes_out_in_the_layout_of_2_0_2() -> None:
    raw = fixtures.python_document("s03_parked_asking.json")
    reply = raw.pop("reply_context")
    raw |= {"reply_id": reply["reply_id"], "cur_iter": 3}
    state = interop.read(raw)
    assert (state.reply_id, state.cur_iter) == (reply["reply_id"], 3)
    written = again(raw)
    assert "reply_context" not in written
    assert written == raw
    state.cur_iter = 4
    source = Source(Format.PYTHON, raw)
    continued = interop.write(state, Format.PYTHON, source=source).value
    assert continued == {**raw, "cur_iter": 4}
    assert list(continued) == list(raw)


def test_a_summary_of_blocks_is_read_as_its_text_and_written_as_blocks() -> None:
    raw = fixtures.python_document("s15_multi_speaker_summary_blocks.json")
    state = interop.read(raw)
    assert state.summary == "Earlier: setup done."
    assert again(raw)["summary"] == raw["summary"]
    patched = AgentState.from_dict({**state.to_dict(), "summary": "Patched."})
    assert interop.write(patched, Format.PYTHON).value["summary"] == "Patched."
    state.summary = "Shorter."
    assert interop.write(state, Format.PYTHON).value["summary"] == "Shorter."
    state.summary = "Earlier: setup done."
    assert interop.write(state, Format.PYTHON).value["summary"] == "Earlier: setup done."


def test_what_has_no_counterpart_is_kept_aside() -> None:
    raw = fixtures.python_document("s10_multimodal_structured.json")
    raw["middle_context"] = {"ratelimit": {"left": 3}}
    raw["tool_context"]["read_file_cache"] = [
        {"lines": ["a"], "updated_at": 1.5, "bytes": 0.1, "file_path": "/a"}
    ]
    raw["reply_context"]["later"] = [1]
    raw["later"] = {"b": 1, "a": 2}
    assert again(raw) == raw
    aside = interop.read(raw).extra["agentscope_python"]
    assert aside["reply_context"]["structured_output"]["title"] == "R"
    assert aside["middle_context"] == {"ratelimit": {"left": 3}}


def test_unknown_words_and_blocks_are_kept_as_they_came() -> None:
    raw = {
        "session_id": "s",
        "reply_context": {"reply_id": "r", "cur_iter": 0},
        "context": [
            {
                **MESSAGE,
                "role": "oracle",
                "content": [
                    {"type": "hologram", "beam": -0.0},
                    {"type": "tool_call", "id": "c", "name": "n", "input": "{", "state": "weird"},
                    {"type": "tool_result", "id": "c", "output": "", "state": "odd"},
                ],
                "finished_reason": "eclipse",
            }
        ],
    }
    state = interop.read(raw)
    hologram, call, _ = state.context[0].content
    assert isinstance(hologram, UnknownBlock)
    assert call.raw["state"] == "weird"
    assert codec.dumps(again(raw)["context"]) == codec.dumps(raw["context"])
    assert [(each.path, each.word) for each in interop.oddities(state)] == [
        ("context[0].role", "oracle"),
        ("context[0].finished_reason", "eclipse"),
        ("context[0].content[0].type", "hologram"),
        ("context[0].content[1].state", "weird"),
        ("context[0].content[2].state", "odd"),
    ]


def test_known_files_hold_nothing_odd() -> None:
    assert interop.oddities(fixtures.full_state()) == []
    for name in FACTS:
        assert interop.oddities(interop.read(fixtures.python_document(name))) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"session_id": 1}, "session_id"),
        ({"reply_context": []}, "reply_context"),
        ({"reply_context": {"reply_id": 1}}, "reply_context.reply_id"),
        ({"reply_context": {"cur_iter": "x"}}, "reply_context.cur_iter"),
        ({"middle_context": []}, "middle_context"),
        ({"summary": 1}, "summary"),
        ({"summary": ["x"]}, "summary[0]"),
        ({"summary": [{"type": "data"}]}, "summary[0].source"),
        ({"context": {}}, "context"),
        ({"context": [{**MESSAGE, "content": "hi"}]}, "context[0].content"),
        ({"context": [{**MESSAGE, "content": [{}]}]}, "context[0].content[0].type"),
        ({"permission_context": {"mode": "yolo"}}, "permission_context.mode"),
        ({"tool_context": {"max_cache_files": 1}}, "tool_context.max_cache_files"),
        ({"tasks_context": {"tasks": [{}]}}, "tasks_context.tasks[0].subject"),
    ],
)
def test_a_wrong_field_is_refused_with_its_path(change: dict[str, Any], path: str) -> None:
    raw = {**fixtures.python_document("s01_text_two_turns.json"), **change}
    with pytest.raises(DecodeError) as caught:
        interop.read(raw, Format.PYTHON)
    assert caught.value.path == path


def test_a_parked_question_carries_its_suggestions() -> None:
    raw = fixtures.python_document("s03_parked_asking.json")
    raw["context"][1]["content"][2]["suggested_rules"].append({"tool_name": "x"})
    [parked] = parked_calls(interop.read(raw))
    assert parked.kind is ParkedKind.APPROVAL
    assert parked.call.input == {"path": "/data/notes.md", "text": "sensor B drifts"}
    assert [rule.tool_name for rule in parked.suggested_rules] == ["write_note"]


def test_external_calls_wait_until_each_has_its_result() -> None:
    raw = fixtures.python_document("s11a_parked_external.json")
    raw["context"][1]["content"].append(
        {"type": "tool_result", "id": "call_0064", "name": "crm_lookup", "output": "found"}
    )
    [parked] = parked_calls(interop.read(raw))
    assert (parked.kind, parked.call.call_id) == (ParkedKind.EXTERNAL, "call_0065")


def test_a_placeholder_of_javas_waits_for_its_result() -> None:
    call = {"type": "tool_use", "id": "c", "name": "n", "input": {}, "state": "allowed"}
    placeholder = {
        **{"type": "tool_result", "id": "c", "name": "n", "output": [], "state": "running"},
        "metadata": {"agentscope_suspended": True},
    }
    older = {"role": "ASSISTANT", "content": [{**call, "id": "old", "state": "asking"}]}
    raw = {
        "context": [
            older,
            {"role": "ASSISTANT", "content": [call]},
            {"role": "TOOL", "content": [placeholder]},
        ]
    }
    [parked] = parked_calls(interop.read(raw))
    assert (parked.kind, parked.call.call_id) == (ParkedKind.EXTERNAL, "c")
    assert parked_calls(interop.read({"context": []})) == []


def test_a_file_without_the_optional_fields_goes_out_as_it_came() -> None:
    raw = {"middle_context": {}, "context": [{"role": "user", "content": []}]}
    state = interop.read(raw)
    written = interop.write(state, Format.PYTHON, source=Source(Format.PYTHON, raw))
    assert json.dumps(written.value) == json.dumps(raw)
    state.cur_iter = 2
    written = interop.write(state, Format.PYTHON, source=Source(Format.PYTHON, raw))
    assert written.value["context"] == raw["context"]
    assert written.value["reply_context"]["cur_iter"] == 2


def test_a_call_without_a_state_goes_out_to_java_as_it_came() -> None:
    block = {"type": "tool_use", "id": "c", "name": "t", "input": {}}
    raw = {
        "session_id": "s",
        "reply_id": "r",
        "context": [{"role": "assistant", "content": [block]}],
    }
    written = interop.write(interop.read(raw), Format.JAVA)
    assert written.value["context"][0]["content"][0]["name"] == "t"
