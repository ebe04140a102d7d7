"""Documents of AgentScope for Java and our own go in and out unharmed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentadmin.engine.errors import DecodeError, InvalidInput
from agentadmin.engine.state import interop
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.interop import Format, Source, java, native
from tests.engine.state import fixtures


@pytest.mark.parametrize("name", ["agent_state_full.json", "agent_state_empty.json"])
def test_a_java_file_is_written_to_the_byte(name: str) -> None:
    text = fixtures.text(name)
    value = json.loads(text)
    for source in (None, Source(Format.JAVA, value)):
        written = java.write(java.read(value), source)
        assert written.text() + "\n" == text
        assert written.losses == ()


def test_a_native_document_carries_its_version() -> None:
    state = AgentState.new("s", "u", "side")
    document = native.write(state).value
    assert document["schema_version"] == native.SCHEMA_VERSION
    assert interop.detect(document) is Format.NATIVE
    assert interop.read(document) == state
    assert interop.write(state).value == document


def test_a_later_native_version_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        native.read({"session_id": "s", "schema_version": 2})
    assert caught.value.path == "schema_version"


@pytest.mark.parametrize(
    ("document", "format"),
    [
        ({}, Format.JAVA),
        ([], Format.JAVA),
        ({"context": "x"}, Format.JAVA),
        ({"context": [{"role": "user"}, None]}, Format.PYTHON),
        ({"context": [{"role": "user"}], "shutdown_interrupted": False}, Format.JAVA),
        ({"tool_context": {"read_file_cache": []}}, Format.PYTHON),
        ({"memory_messages": []}, Format.JAVA),
        ({"role": "USER", "content": []}, Format.JAVA),
        ({"context": [{"role": "USER", "timestamp": "t"}]}, Format.JAVA),
        ({"schema_version": 1, "context": []}, Format.NATIVE),
        ({"reply_context": {}}, Format.PYTHON),
        ({"middle_context": {}}, Format.PYTHON),
        ({"summary": []}, Format.PYTHON),
        ({"context": [{"role": "user", "created_at": "t"}]}, Format.PYTHON),
    ],
)
def test_a_format_is_recognised(document: Any, format: Format) -> None:
    assert interop.detect(document) is format


def test_formats_go_by_name() -> None:
    raw = fixtures.document("agent_state_full.json")
    state = interop.read(raw, "agentscope-java")
    assert interop.write(state, "agentscope-java").value == raw
    with pytest.raises(InvalidInput) as caught:
        interop.read(raw, "yaml")
    assert caught.value.path == "format"
    with pytest.raises(InvalidInput):
        interop.write(state, "yaml")


def test_a_session_of_1x_takes_the_identity_of_its_slot() -> None:
    lines = fixtures.text("legacy_memory_messages.jsonl").splitlines()
    messages = [json.loads(line) for line in lines]
    groups = fixtures.document("legacy_toolkit_activeGroups.json")
    state = java.read_legacy(messages, groups, session_id="s", user_id="alice")
    assert state is not None
    assert (state.session_id, state.user_id) == ("s", "alice")
    assert [message.to_dict() for message in state.context] == messages
    assert state.tool_context.activated_groups == ("basic", "web")


def test_an_empty_group_list_is_a_session_and_nothing_is_none() -> None:
    def read(messages: list[Any], groups: Any) -> AgentState | None:
        return java.read_legacy(messages, groups, session_id="s", user_id=None)

    assert read([], None) is None
    state = read([], {"activeGroups": []})
    assert state is not None
    assert state.tool_context.activated_groups == ()
    with pytest.raises(DecodeError) as caught:
        read([{"content": 1}], None)
    assert caught.value.path == "memory_messages[0].content"
    talk = read([{"role": "USER", "content": []}], None)
    assert talk is not None
    assert len(talk.context) == 1


def test_what_1x_left_behind_is_read_from_a_document() -> None:
    lines = fixtures.text("legacy_memory_messages.jsonl").splitlines()
    messages = [json.loads(line) for line in lines]
    groups = fixtures.document("legacy_toolkit_activeGroups.json")
    assert len(interop.read(messages).context) == len(messages)
    assert interop.read(groups).tool_context.activated_groups == ("basic", "web")
    whole = interop.read({"memory_messages": messages, "toolkit_activeGroups": groups})
    assert len(whole.context) == len(messages)
    assert whole.tool_context.activated_groups == ("basic", "web")
    assert len(interop.read(messages[0]).context) == 1
    empties: list[Any] = [[], {"memory_messages": []}]
    for empty in empties:
        with pytest.raises(DecodeError, match="no message"):
            interop.read(empty)
