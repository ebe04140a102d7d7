"""What is no state is refused by its name and its path; odd states are read as Java reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.interop import Format
from tests.engine.state import fixtures

STATE = {"session_id": "s", "context": [], "reply_id": "r"}
CHAT = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
TOOL_CHAT = [{"role": "assistant", "content": None, "tool_calls": []}]
EVENT = {"schemaVersion": 1, "eventId": "e", "seq": 1, "payloadJson": "{}"}


@pytest.mark.parametrize(
    ("document", "words", "path"),
    [
        ({"model": "gpt-x", "messages": CHAT}, "OpenAI", ""),
        ({"id": "c", "object": "chat.completion", "choices": [], "model": "m"}, "OpenAI", ""),
        ({"object": "thread", "thread_id": "t"}, "Assistants", ""),
        (CHAT[1], "OpenAI", ""),
        (CHAT, "OpenAI", "[0]"),
        ([{"role": "user", "content": []}, *TOOL_CHAT], "OpenAI", "[1]"),
        ({"title": "t", "mapping": {}}, "ChatGPT", ""),
        ([{"title": "t", "mapping": {}}], "ChatGPT", "[0]"),
        ({"model": "claude", "max_tokens": 9, "messages": []}, "Anthropic", ""),
        ({"type": "message", "role": "assistant", "content": [], "model": "c"}, "Anthropic", ""),
        ({"uuid": "u", "chat_messages": []}, "Claude", ""),
        ({"v": 1, "ts": "t", "channel_values": {}}, "LangGraph", ""),
        ({"values": {"messages": []}, "next": [], "thread_id": "t"}, "LangGraph", ""),
        ({"lc": 1, "type": "constructor", "id": []}, "LangChain", ""),
        ([{"type": "human", "content": "hi", "additional_kwargs": {}}], "LangChain", "[0]"),
        ({"contents": [{"role": "user", "parts": []}]}, "Gemini", ""),
        ([{"role": "user", "parts": []}], "Gemini", "[0]"),
        ({"type": "TeamState", "version": "1", "agent_states": {}}, "AutoGen", ""),
        ({"store": {}, "class_name": "SimpleChatStore"}, "LlamaIndex", ""),
        ({"session_id": "s", "messages": []}, "another product", ""),
        (EVENT, "journal", ""),
        ([EVENT], "journal", "[0]"),
        ({"batchId": "b", "firstSeq": 1, "lastSeq": 2}, "commit", ""),
        ({"agentscope:session:alice/s-1:agent_state": {}}, "Redis", ""),
        ([STATE, STATE], "one by one", "[0]"),
        ([{"type": "text", "text": "x"}], "blocks", "[0]"),
        ({"type": "text", "text": "x"}, "block", ""),
        ([[]], "message", "[0]"),
        ([{"a": 1}], "not of messages", "[0]"),
        ({"state": STATE, "version": 3}, "this field", "state"),
        ({"agent_state": STATE}, "this field", "agent_state"),
        ({"name": "x"}, "it has name", ""),
        (None, "null", ""),
        (5, "a number", ""),
        (5.5, "a number", ""),
        (True, "true or false", ""),
        ("PK", "text", ""),
    ],
)
def test_a_document_of_another_kind_is_named(document: Any, words: str, path: str) -> None:
    for read in (interop.detect, interop.read, lambda each: interop.read(each, Format.PYTHON)):
        with pytest.raises(DecodeError, match=words) as caught:
            read(document)
        assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("store_layout_jsonfile.json", "layout of a store"),
        ("store_layout_redis.json", "layout of a store"),
        ("store_layout_sql.json", "layout of a store"),
        ("journal_head_constructed.json", "head of AgentScope's journal"),
        ("journal_session_constructed.json", "description of AgentScope's journal"),
        ("journal_events_constructed.json", "events of AgentScope's journal"),
        ("permission_context_full.json", "permission context"),
        ("content_blocks_all.json", "blocks"),
        ("permission_engine_decision_table.json", "not of messages"),
        ("decode_probes.json", "not of messages"),
        ("confirm_result.json", "."),
        ("permission_decision_ask.json", "none of the fields"),
    ],
)
def test_the_other_files_of_javas_are_refused(name: str, words: str) -> None:
    with pytest.raises(DecodeError, match=words):
        interop.read(fixtures.document(name))


@pytest.mark.parametrize(
    "text",
    [
        fixtures.text("agent_events.raw.jsonl"),
        fixtures.python_text("s03_parked_asking.events.jsonl"),
        fixtures.python_text("s11a_parked_external.events.jsonl"),
    ],
)
def test_an_event_log_is_refused(text: str) -> None:
    lines = [codec.loads(line) for line in text.splitlines()]
    for document in (lines, lines[0]):
        with pytest.raises(DecodeError, match="event log does not hold the state"):
            interop.read(document)


# Decision 1 of the specification: unknown words of messages survive instead of being refused.
KEPT_THOUGH_JAVA_REFUSES = {"lower role", "tool_use bad state"}


def as_state(probe: dict[str, Any]) -> Any:
    """A probe as a document that somebody could bring."""
    value = json.loads(probe["input_json"])
    if probe["kind"] == "ContentBlock":
        value = {"id": "1", "role": "TOOL", "content": [value]}
    return value if probe["kind"] == "AgentState" else {"session_id": "s", "context": [value]}


@pytest.mark.parametrize(
    "probe",
    [p for p in fixtures.document("decode_probes.json") if p["kind"] != "AgentEvent"],
    ids=lambda probe: probe["label"],
)
def test_an_odd_input_answers_as_it_should(probe: dict[str, Any]) -> None:
    document = as_state(probe)
    if not probe["accepted"] and probe["label"] not in KEPT_THOUGH_JAVA_REFUSES:
        with pytest.raises(DecodeError) as caught:
            interop.read(document)
        assert caught.value.path
        return
    kind = interop.detect(document)
    state = interop.read(document)
    source = interop.Source(kind, document)
    written = interop.write(state, kind, source=source)
    assert codec.dumps(written.value) == codec.dumps(document)


@pytest.mark.parametrize(
    "probe",
    [p for p in fixtures.document("decode_probes.json") if p["kind"] == "AgentEvent"],
    ids=lambda probe: probe["label"],
)
def test_an_event_is_no_state(probe: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match="event"):
        interop.read(json.loads(probe["input_json"]))
