"""Our conversations as both providers want them, whatever layout and order they are kept in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentadmin.engine.context.request import is_sound
from agentadmin.engine.messages import (
    AudioBlock,
    DataBlock,
    ImageBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    assistant_message,
    base64_source,
    system_message,
    tool_message,
    url_source,
    user_message,
)
from agentadmin.engine.models import anthropic_messages, openai_messages
from agentadmin.engine.models.turns import plain_id

Json = dict[str, Any]
PNG = base64_source("image/png", "iVBORw0KGgo=")


def openai(*messages: Msg) -> list[Json]:
    return openai_messages.wire_messages(messages)


def anthropic(*messages: Msg) -> list[Json]:
    return anthropic_messages.wire_messages(messages)[1]


def call(id_: str, name: str = "f", **input_: Any) -> ToolUseBlock:
    return ToolUseBlock.make(id=id_, name=name, input=input_)


def result(id_: str, output: Any = "ok", state: str = "success") -> ToolResultBlock:
    return ToolResultBlock.make(id=id_, name="f", output=output, state=state)


PARALLEL = [
    system_message("Be kind."),
    user_message("add"),
    assistant_message([TextBlock.make("I will."), call("a", n=1), call("b", n=2)], name="x"),
    tool_message(result("a", "1"), name="x"),
    user_message("said while the calls were open"),
    tool_message(result("b", "no", "error"), name="x"),
    assistant_message("done", name="x"),
    user_message(
        "<system-reminder>hint</system-reminder>", metadata={"agentscope_synthetic": True}
    ),
]


def test_calls_and_results_as_openai_wants_them() -> None:
    sent = openai(*PARALLEL)
    assert [m["role"] for m in sent] == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant", "user",
    ]  # fmt: skip
    assert sent[2]["content"] == "I will."
    assert sent[2]["tool_calls"][1] == {
        "id": "b", "type": "function", "function": {"name": "f", "arguments": '{"n":2}'},
    }  # fmt: skip
    assert [m["tool_call_id"] for m in sent[3:5]] == ["a", "b"]
    assert [m["content"] for m in sent[3:5]] == ["1", "[error] no"]


def test_calls_and_results_as_anthropic_wants_them() -> None:
    system, sent = anthropic_messages.wire_messages(PARALLEL)
    assert system == "Be kind."
    assert [m["role"] for m in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert sent[1]["content"][1] == {
        "type": "tool_use", "id": "a", "name": "f", "input": {"n": 1},
    }  # fmt: skip
    results = sent[2]["content"]
    assert [part["type"] for part in results] == ["tool_result", "tool_result", "text"]
    assert [part.get("is_error") for part in results] == [None, True, None]


PYTHON_REPLY = Msg(
    {
        "role": "assistant",
        "name": "x",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "first"},
            {"type": "tool_call", "id": "a", "name": "f", "input": '{"n": 1}', "state": "finished"},
            {"type": "tool_call", "id": "b", "name": "f", "input": "{", "state": "finished"},
            {"type": "tool_result", "id": "a", "name": "f", "output": "one", "state": "success"},
            {"type": "hint", "hint": "be brief", "source": "x"},
            {"type": "tool_result", "id": "b", "name": "f", "output": [], "state": "interrupted"},
            {"type": "text", "text": "second"},
        ],
    }
)


def test_a_reply_that_holds_its_own_results_is_taken_apart() -> None:
    sent = openai(user_message("hi"), PYTHON_REPLY)
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert [c["function"]["arguments"] for c in sent[1]["tool_calls"]] == ['{"n":1}', "{}"]
    assert sent[3]["content"] == "[interrupted] (no output)"
    assert sent[4]["content"] == "<system-reminder>be brief</system-reminder>"
    other = anthropic(user_message("hi"), PYTHON_REPLY)
    assert [m["role"] for m in other] == ["user", "assistant", "user", "assistant", "user"]
    assert other[1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}


def test_pictures_go_along_and_what_cannot_is_put_into_words() -> None:
    blocks = [
        TextBlock.make("look"),
        ImageBlock.make(PNG),
        ImageBlock.make(url_source("https://example.com/cat.png")),
        ImageBlock.make(url_source("file:///etc/passwd")),
        AudioBlock.make(base64_source("audio/wav", "AAAA")),
        DataBlock.make(base64_source("application/pdf", "AAAA"), name="plan.pdf"),
        DataBlock.make(base64_source("text/plain", "aGVsbG8="), name="a.txt"),
        UnknownBlock({"type": "hologram"}),
    ]
    (sent,) = openai(user_message(blocks))
    kinds = [part["type"] for part in sent["content"]]
    assert kinds == ["text", "image_url", "image_url", *["text"] * 5]
    assert sent["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert sent["content"][3]["text"] == "[image: this model cannot be shown it]"
    assert "audio audio/wav, about 3 bytes" in sent["content"][4]["text"]
    assert "plan.pdf" in sent["content"][5]["text"]
    assert sent["content"][6]["text"] == "hello"
    (other,) = anthropic(user_message(blocks))
    kinds = [part["type"] for part in other["content"]]
    assert kinds == ["text", "image", "image", "text", "text", "document", "text", "text"]
    assert other["content"][1]["source"]["media_type"] == "image/png"


def test_a_result_with_a_picture_shows_it() -> None:
    made = [
        user_message("draw"),
        assistant_message([call("a")], name="x"),
        tool_message(result("a", [TextBlock.make("here"), ImageBlock.make(PNG)]), name="x"),
    ]
    sent = openai(*made)
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent[3]["content"][1]["type"] == "image_url"
    parts = anthropic(*made)[2]["content"][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image"]


def test_ids_and_names_that_a_provider_would_refuse_are_replaced_alike() -> None:
    odd = "a~2 ü" * 20
    made = [
        user_message("x"),
        assistant_message([call(odd, "my.tool/x")], name="x"),
        tool_message(result(odd), name="x"),
    ]
    sent = openai(*made)
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == plain_id(odd)
    assert sent[1]["tool_calls"][0]["function"]["name"] == "my_tool_x"
    other = anthropic(*made)
    assert other[1]["content"][0]["id"] == other[2]["content"][0]["tool_use_id"]
    assert len(plain_id(odd)) <= 40


def test_what_an_empty_or_one_sided_conversation_becomes() -> None:
    assert openai(user_message(""))[0]["content"] == "(empty message)"
    assert [m["role"] for m in anthropic(assistant_message("I begin", name="x"))] == [
        "user", "assistant", "user",
    ]  # fmt: skip
    assert [m["role"] for m in anthropic()] == ["user"]
    unsigned = assistant_message([ThinkingBlock.make("hm"), TextBlock.make("x")], name="x")
    assert [p["type"] for p in anthropic(user_message("a"), unsigned)[1]["content"]] == ["text"]


FIXTURES = sorted(Path("tests/data").glob("agentscope-*/*.json"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_the_context_of_every_saved_state_can_be_sent(path: Path) -> None:
    state = json.loads(path.read_text())
    context = state.get("context") if isinstance(state, dict) else None
    messages = [Msg(raw) for raw in context or ()]
    if not is_sound(messages):
        messages = messages[:0]  # parked and broken ones are answered or repaired before
    check_openai(openai(*messages))
    check_anthropic(anthropic(*messages))


_BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "t"},
        {"type": "text", "text": " "},
        {"type": "thinking", "thinking": "x"},
        {"type": "hint", "hint": "h"},
        {"type": "tool_call", "id": "a", "name": "f", "input": "{}"},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}},
        {"type": "tool_result", "id": "a", "name": "f", "output": "o"},
        {"type": "tool_result", "id": "b", "name": "f", "output": []},
    ]
)
_ROLES = st.sampled_from(["USER", "ASSISTANT", "TOOL", "assistant", "user", "SYSTEM", None])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_ROLES, st.lists(_BLOCKS, max_size=5)), max_size=6))
def test_results_always_follow_their_calls(given_: list[tuple[str | None, list[Json]]]) -> None:
    """Calls without a result never reach a model (invariant 3), so only paired ones are kept."""
    messages = [Msg({"role": role, "content": _paired(blocks)}) for role, blocks in given_]
    check_openai(openai(*messages))
    check_anthropic(anthropic(*messages))


def _paired(blocks: list[Json]) -> list[Json]:
    kept: list[Json] = []
    for at, block in enumerate(blocks):
        rest, done = blocks[at + 1 :], [b.get("id") for b in kept if b["type"] == "tool_result"]
        used = [b.get("id") for b in kept if b["type"] != "tool_result"]
        if block["type"] == "tool_result":
            if block["id"] in used and block["id"] not in done:
                kept.append(block)
        elif "id" not in block or (
            block["id"] not in used
            and any(b["type"] == "tool_result" and b["id"] == block["id"] for b in rest)
        ):
            kept.append(block)
    return kept


def check_openai(sent: list[Json]) -> None:
    open_: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            open_.remove(message["tool_call_id"])
        else:
            assert not open_
            open_ = [c["id"] for c in message.get("tool_calls", ())]
        assert message["content"] or message.get("tool_calls")


def check_anthropic(sent: list[Json]) -> None:
    assert (sent[0]["role"], sent[-1]["role"]) == ("user", "user")
    open_: set[str] = set()
    for before, message in zip([{"role": "assistant"}, *sent], sent, strict=False):
        assert before["role"] != message["role"]
        results = [p["tool_use_id"] for p in message["content"] if p["type"] == "tool_result"]
        assert set(results) == open_
        assert all(p["type"] == "tool_result" for p in message["content"][: len(results)])
        open_ = {p["id"] for p in message["content"] if p["type"] == "tool_use"}
