"""Messages keep everything, and are refused with the path of what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentadmin.engine.errors import DecodeError
from agentadmin.engine.messages import (
    AudioBlock,
    Block,
    DataBlock,
    FinishReason,
    HintBlock,
    ImageBlock,
    Msg,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    VideoBlock,
    assistant_message,
    base64_source,
    system_message,
    tool_message,
    url_source,
    user_message,
)
from tests.engine.state import fixtures


def _message(*content: Any, role: str | None = "USER", **fields: Any) -> dict[str, Any]:
    return {"id": "1", "role": role, "content": list(content), **fields}


@pytest.mark.parametrize("raw", fixtures.document("content_blocks_all.json"))
def test_a_made_block_is_what_java_writes(raw: dict[str, Any]) -> None:
    block = Block.from_dict(raw)
    assert _made_again(block).to_dict() == raw
    assert list(_made_again(block).to_dict()) == list(raw)


def _made_again(block: Block) -> Block:
    match block:
        case TextBlock():
            return TextBlock.make(block.text)
        case ThinkingBlock():
            return ThinkingBlock.make(block.thinking, block.metadata or None)
        case ImageBlock() | AudioBlock() | VideoBlock():
            rest = {k: v for k, v in block.raw.items() if k not in ("type", "source")}
            return type(block).make(block.source or {}, **rest)
        case DataBlock():
            return DataBlock.make(block.source or {}, id=block.raw["id"], name=block.name)
        case HintBlock():
            return HintBlock.make(block.hint, id=block.raw["id"], source=block.source)
        case ToolUseBlock():
            return ToolUseBlock.make(
                id=block.id,
                name=block.name,
                input=block.input,
                content=block.content,
                metadata=block.metadata,
                state=block.state,
            )
        case ToolResultBlock():
            return ToolResultBlock.make(
                id=block.id,
                name=block.name,
                output=block.output,
                metadata=block.metadata,
                state=block.state,
            )
        case _:
            raise AssertionError(block)


@pytest.mark.parametrize(
    "name",
    ["user", "system", "assistant_tool_call", "tool_result", "tool_result_denied"],
)
def test_recorded_messages_come_back_as_they_were(name: str) -> None:
    raw = fixtures.document(f"msg_{name}.json")
    message = Msg.from_dict(raw)
    assert message.to_dict() is raw
    assert message == Msg.from_dict(dict(raw))
    assert message.timestamp == raw["timestamp"]


def test_made_messages_have_javas_fields_in_javas_order() -> None:
    block = ToolResultBlock.make(id="c", name="t", output="done")
    fields = list(fixtures.document("msg_user.json"))
    for message in (
        user_message("hi"),
        assistant_message([TextBlock.make("hi")], name="a", usage={"inputTokens": 1}),
        system_message("be kind"),
        tool_message(block, name="a"),
    ):
        assert list(message.raw) == fields
        assert Msg.from_dict(message.raw) == message
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", message.timestamp or "")


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ([], "m"),
        (_message(role=3), "m.role"),
        ({"content": "hello"}, "m.content"),
        ({"content": {}}, "m.content"),
        ({"id": 5}, "m.id"),
        ({"metadata": []}, "m.metadata"),
        ({"usage": "x"}, "m.usage"),
        (_message("hello"), "m.content[0]"),
        (_message({"text": "x"}), "m.content[0].type"),
        (_message({"type": "text"}, {"type": "text", "text": 1}), "m.content[1].text"),
        (_message({"type": "image"}), "m.content[0].source"),
        (_message({"type": "data", "source": {"type": "s3"}}), "m.content[0].source"),
        (_message({"type": "image", "source": "x"}), "m.content[0].source"),
        (_message({"type": "image", "source": {"type": "url"}}), "m.content[0].source.url"),
        (_message({"type": "tool_use"}), "m.content[0]"),
        (_message({"type": "hint"}), "m.content[0]"),
        (_message({"type": "image", "source": url_source("u")}, role="SYSTEM"), "m.content[0]"),
        (_message({"type": "tool_use", "input": []}, role="TOOL"), "m.content[0].input"),
        (_message({"type": "tool_call", "input": 1}, role="TOOL"), "m.content[0].input"),
        (_message({"type": "thinking", "metadata": 1}, role="TOOL"), "m.content[0].metadata"),
        (_message({"type": "tool_result", "output": {}}, role="TOOL"), "m.content[0].output"),
        (_message({"type": "hint", "hint": 1}, role="TOOL"), "m.content[0].hint"),
        (_message({"type": "video", "source": {}}), "m.content[0].source"),
        (
            _message({"type": "tool_result", "output": [{"type": "text"}, 7]}, role="TOOL"),
            "m.content[0].output[1]",
        ),
    ],
)
def test_a_wrong_message_is_refused_with_its_path(raw: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        Msg.from_dict(raw, "m")
    assert caught.value.path == path


def test_a_wrong_block_is_refused_with_its_path() -> None:
    raw = {"type": "tool_result", "output": [{"type": "image"}]}
    with pytest.raises(DecodeError) as caught:
        Block.from_dict(raw, "context[3].content[0]")
    assert caught.value.path == "context[3].content[0].output[0].source"


def test_results_nested_five_hundred_deep_are_checked_without_a_crash() -> None:
    raw: dict[str, Any] = {"type": "tool_result", "output": [{"type": "text", "text": 1}]}
    for _ in range(480):
        raw = {"type": "tool_result", "output": [raw]}
    with pytest.raises(DecodeError) as caught:
        Block.from_dict(raw)
    assert caught.value.path.endswith(".output[0].text")


def test_what_we_do_not_know_is_kept() -> None:
    raw = _message(
        {"type": "hologram", "depth": 3},
        {"type": "text", "text": "x", "mood": "fine"},
        {"type": "tool_use", "id": "c", "name": "n", "state": "weird"},
        role="ORACLE",
        future=[1],
    )
    message = Msg.from_dict(raw)
    hologram, _, call = message.content
    assert isinstance(hologram, UnknownBlock)
    assert hologram.type == "hologram"
    assert isinstance(call, ToolUseBlock)
    assert call.state == "weird"
    assert message.role == "ORACLE"
    assert message.to_dict() == raw


def test_null_elements_are_skipped_and_kept() -> None:
    raw = _message(None, {"type": "text", "text": None}, None, role="TOOL")
    message = Msg.from_dict(raw)
    assert [block.type for block in message.content] == ["text"]
    assert message.text == ""
    assert message.raw["content"][0] is None


def test_pythons_layout_is_read_as_it_stands() -> None:
    raw = {
        "role": "assistant",
        "created_at": "2026-12-01T13:23:19.658772",
        "content": [
            {"type": "tool_call", "id": "c", "name": "n", "input": '{"a":1}', "state": "pending"},
            {"type": "tool_result", "id": "c", "name": "n", "output": "fine", "state": "success"},
            {"type": "hint", "hint": [{"type": "text", "text": "psst"}]},
            {"type": "tool_call", "id": "d", "name": "n", "input": '{"a":', "state": "finished"},
        ],
    }
    message = Msg.from_dict(raw)
    call, result, hint, cut = message.content
    assert message.role is Role.ASSISTANT
    assert message.timestamp == raw["created_at"]
    assert isinstance(call, ToolUseBlock)
    assert (call.input, call.content, call.truncated) == ({"a": 1}, '{"a":1}', False)
    assert isinstance(result, ToolResultBlock)
    assert result.text == "fine"
    assert isinstance(hint, HintBlock)
    assert hint.hint == "psst"
    assert isinstance(cut, ToolUseBlock)
    assert (cut.input, cut.truncated) == ({}, True)


def test_arguments_cut_off_while_streaming_are_noticed() -> None:
    assert ToolUseBlock.make(id="c", name="n", content='{"a":').truncated
    assert not ToolUseBlock.make(id="c", name="n", content="{}").truncated
    assert not ToolUseBlock.make(id="c", name="n").truncated


def test_accessors_fall_back_as_in_java() -> None:
    message = Msg.from_dict(
        _message(
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b"},
            role="ASSISTANT",
            metadata={"_chat_usage": {"inputTokens": 3}, "agentscope_generate_reason": "NEW"},
        )
    )
    assert message.text == "a\nb"
    assert message.usage == {"inputTokens": 3}
    assert message.finish_reason is FinishReason.MODEL_STOP
    stopped = message.with_metadata(agentscope_generate_reason="INTERRUPTED", _chat_usage=None)
    assert stopped.finish_reason is FinishReason.INTERRUPTED
    assert stopped.usage is None
    empty = Msg.from_dict({})
    assert (empty.id, empty.role, empty.content, empty.metadata) == (None, None, (), {})


def test_changing_a_message_gives_another_one() -> None:
    message = user_message("old", metadata={"agentscope_synthetic": True})
    changed = message.with_block(0, TextBlock.make("new")).replace(name="eve")
    assert (changed.text, changed.name, changed.id) == ("new", "eve", message.id)
    assert (message.text, message.name) == ("old", "user")
    assert message != changed
    assert message.synthetic
    assert message.blocks(TextBlock)[0].replace(text="x").text == "x"


def test_messages_and_blocks_have_value_equality_and_no_hash() -> None:
    assert TextBlock.make("a") == TextBlock.make("a") != TextBlock.make("b")
    assert user_message("a") != object()
    with pytest.raises(TypeError):
        hash(user_message("a"))
    assert "TextBlock" in repr(TextBlock.make("a"))
    assert "Msg" in repr(user_message("a"))


def test_sources_have_their_wire_names() -> None:
    assert url_source("u", "image/png")["mime_type"] == "image/png"
    assert base64_source("image/png", "aa==")["media_type"] == "image/png"
    assert len(DataBlock.make(url_source("u")).raw["id"]) == 32


def test_a_result_defaults_to_running_and_a_placeholder_is_recognised() -> None:
    legacy = ToolResultBlock({"type": "tool_result", "id": "c"})
    assert (legacy.state, legacy.suspended, legacy.output) == ("running", False, ())
    assert legacy.replace(metadata={"agentscope_suspended": True}).suspended
