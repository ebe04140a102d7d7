"""What a format cannot hold is told, and the deepest documents go through every one."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.messages import (
    ImageBlock,
    Msg,
    ThinkingBlock,
    ToolUseBlock,
    assistant_message,
    url_source,
    user_message,
)
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.interop import Format, Source

ODD = {
    "type": "tool_use",
    "id": "c",
    "name": "n",
    "state": "weird",
    "input": {"a": 2},
    "content": '{"a":1}',
    "metadata": {"agentadmin.confirmed": "h"},
}


def paths(written: interop.Written) -> dict[str, str]:
    return {loss.path: loss.kind for loss in written.losses}


def types(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_what_python_cannot_hold_is_told() -> None:
    state = AgentState.new("s", None)
    blocks = [
        ThinkingBlock.make("hm", {"signature": "s", "id": "clash"}),
        ImageBlock.make(url_source("https://example.org/cat.png"), minPixels=3),
        ImageBlock.make(url_source("cat.png")),
        ImageBlock.make({"type": "base64", "media_type": "audio/wav", "data": ""}),
    ]
    odd = {"role": "ORACLE", "content": [ODD, {"type": "hologram"}], "omen": 1}
    state.set_context([assistant_message(blocks, name="a"), Msg(odd)])
    state.extra = {"later": "\ud800"}
    written = interop.write(state, Format.PYTHON)
    first, second = written.value["context"]
    thought = {"type": "thinking", "thinking": "hm", "signature": "s", "id": "clash"}
    assert first["content"][0] == thought
    assert first["content"][1]["source"]["media_type"] == "image/png"
    assert types(first) == ["thinking", "data", "data"]
    assert second["content"][0]["input"] == '{"a":2}'
    assert second["content"][0]["state"] == "pending"
    assert second["role"] == "assistant"
    assert written.value["later"] == "\ufffd"
    assert paths(written) == {
        "context[0].content[1].minPixels": "dropped",
        "context[0].content[2]": "dropped",
        "context[0].content[3]": "changed",
        "context[1].role": "changed",
        "context[1].content[0].state": "changed",
        "context[1].content[0].metadata": "dropped",
        "context[1].content[0].content": "dropped",
        "context[1].content[1]": "dropped",
        "context[1].omen": "dropped",
        "later": "changed",
    }


def test_what_java_cannot_hold_is_told() -> None:
    state = AgentState.new("s", None)
    result = {"type": "tool_result", "id": "c", "output": "x", "metadata": {"n": None}}
    odd = {"role": "ORACLE", "content": [ODD, {"type": "hologram"}, result, None]}
    mixed = {
        "role": "user",
        "id": "m",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "tool_result", "id": "c", "output": [{"type": "hint", "hint": "x"}]},
            {"type": "hint", "hint": [{"type": "text", "text": "b"}, {"type": "text"}]},
        ],
    }
    state.set_context([Msg(odd), Msg(mixed)])
    written = interop.write(state, Format.JAVA)
    assert [message["role"] for message in written.value["context"]] == [
        *("ASSISTANT", "USER", "TOOL", "ASSISTANT")
    ]
    assert [message.get("id") for message in written.value["context"]] == [None, "m", "m.1", "m.2"]
    assert written.value["context"][0]["content"] == [
        {**ODD, "state": "pending"},
        {**result, "output": [{"type": "text", "text": "x"}], "metadata": {}},
    ]
    assert paths(written) == {
        "context[0].content[0].state": "changed",
        "context[0].content[1]": "dropped",
        "context[0].content[2].metadata.n": "dropped",
        "context[0].role": "changed",
        "context[1].content[1].output[0]": "dropped",
        "context[1].role": "changed",
        "context[1].content[2].hint": "changed",
    }


def nested(levels: int) -> Any:
    value: Any = -0.0
    for _ in range(levels):
        value = [value]
    return value


def deep_python() -> dict[str, Any]:
    call = {
        **{"type": "tool_call", "id": "c", "name": "n", "state": "asking"},
        "input": codec.dumps({"a": nested(990)}),
    }
    content = [call, {"type": "text", "text": "\0", "z": nested(980)}]
    message = {"role": "assistant", "id": "m", "name": "n", "content": content}
    return {
        "context": [{**message, "metadata": {"a": nested(980), "n": 10**30}}],
        "middle_context": {"a": nested(980)},
        "later": nested(980),
    }


def deep_java() -> dict[str, Any]:
    call = {"type": "tool_use", "id": "c", "name": "n", "input": {"a": nested(980)}}
    inner: dict[str, Any] = {"type": "text", "text": "x"}
    for _ in range(300):
        inner = {"type": "tool_result", "id": "q", "output": [inner]}
    messages = [{"role": "ASSISTANT", "content": [call]}, {"role": "TOOL", "content": [inner]}]
    return {"context": messages, "later": {"b": nested(980), "a": 10**30}}


@pytest.mark.parametrize(
    ("document", "own"), [(deep_python(), Format.PYTHON), (deep_java(), Format.JAVA)]
)
@pytest.mark.parametrize("kind", list(Format))
def test_the_deepest_document_goes_through_every_format(
    document: dict[str, Any], own: Format, kind: Format
) -> None:
    text = codec.dumps(document)
    state = interop.read(codec.loads(text))
    source = Source(own, codec.loads(text))
    state.context_mutable().append(user_message("more"))
    for given in (None, source):
        written = interop.write(state, kind, source=given)
        back = interop.read(codec.loads(written.text()), kind)
        assert [block.name for block in back.context[0].blocks(ToolUseBlock)] == ["n"]
    if kind is own:
        assert codec.dumps(written.value["context"][:-1]) == codec.dumps(document["context"])
        assert codec.dumps(written.value["later"]) == codec.dumps(document["later"])
    told = {loss.path for loss in written.losses if "levels" in loss.why}
    assert bool(told) == (kind is Format.PYTHON)


def test_fields_of_a_stranger_that_look_like_ours_are_nobodys() -> None:
    state = AgentState.new("s")
    state.extra = {
        "agentscope_python": {"reply_context": [], "middle_context": 3, "layout": 5},
        "summary_blocks": [None, {"type": []}],
    }
    for kind in (Format.JAVA, Format.PYTHON):
        written = interop.write(state, kind)
        assert written.value["summary"] == ""
        assert "agentscope_python" not in written.value
        assert interop.read(written.value, kind).session_id == "s"
    state.extra = {"agentscope_python": 7, "summary_blocks": 7}
    assert interop.write(state, Format.PYTHON).value["middle_context"] == {}
