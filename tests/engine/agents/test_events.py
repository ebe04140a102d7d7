"""Events: balanced blocks, one end for each start, and deltas that place themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentadmin.engine.agents.assembler import Assembler
from agentadmin.engine.agents.emitter import Emitter, Step
from agentadmin.engine.errors import ModelError
from agentadmin.engine.events import Event, EventType, to_wire
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import TextBlock, ThinkingBlock, ToolUseBlock
from agentadmin.engine.models.base import (
    Chunk,
    ModelRequest,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    UsageChunk,
)
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import BYPASS, ScriptModel, calls, context, harness, says

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from agentadmin.engine.tools.context import ToolContext

_PAIRS = {
    EventType.TEXT_BLOCK_START: EventType.TEXT_BLOCK_END,
    EventType.THINKING_BLOCK_START: EventType.THINKING_BLOCK_END,
    EventType.TOOL_CALL_START: EventType.TOOL_CALL_END,
    EventType.TOOL_RESULT_START: EventType.TOOL_RESULT_END,
}

chunks = st.one_of(
    st.builds(TextChunk, st.text(max_size=5)),
    st.builds(ThinkingChunk, st.text(max_size=5)),
    st.builds(
        ToolCallChunk,
        st.sampled_from("ab"),
        st.sampled_from(["", "id1", "id2"]),
        st.sampled_from(["", "tool", "__hidden"]),
        st.text(max_size=5),
    ),
    st.builds(UsageChunk, st.integers(0, 9), st.integers(0, 9)),
)


def check_balance(events: Sequence[Event]) -> None:
    """Each block starts once and ends once, with its deltas in between at their offsets."""
    open_: dict[str, int] = {}
    ended: set[str] = set()
    for event in events:
        if event.block is None:
            continue
        if event.type in _PAIRS:
            assert event.block not in open_
            assert event.block not in ended
            open_[event.block] = 0
        elif event.type in _PAIRS.values():
            assert open_.pop(event.block) == event.offset
            ended.add(event.block)
        else:
            assert event.offset == open_[event.block]
            open_[event.block] += len(event.fields.get("delta", ""))
    assert not open_


@given(st.lists(chunks, max_size=12))
def test_blocks_are_balanced_for_any_order_of_chunks(stream: list[Chunk]) -> None:
    events: list[Event] = []
    assembler = Assembler(Emitter({}, [events.append]), Step("run", 1), "m")
    for chunk in stream:
        assembler.feed(chunk)
    assembler.close()
    check_balance(events)
    blocks = assembler.blocks(set)
    texts = "".join(b.text for b in blocks if isinstance(b, TextBlock))
    assert texts == "".join(c.text for c in stream if isinstance(c, TextChunk))
    thinking = "".join(b.thinking for b in blocks if isinstance(b, ThinkingBlock))
    assert thinking == "".join(c.text for c in stream if isinstance(c, ThinkingChunk))
    ids = [b.id for b in blocks if isinstance(b, ToolUseBlock)]
    assert len(ids) == len(set(ids))
    assert all(ids)


async def collect(agent: Any, text: str = "hi") -> list[Event]:
    return [event async for event in agent.stream_events(text, context())]


def names(events: Sequence[Event]) -> list[str]:
    return [str(event.type) for event in events]


async def test_a_reply_has_the_canonical_order() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        events = await collect(agent, "/think deep")
    assert names(events) == [
        "AGENT_START",
        "MODEL_CALL_START",
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA",
        "THINKING_BLOCK_END",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
        "MODEL_CALL_END",
        "AGENT_RESULT",
        "AGENT_END",
    ]
    start, end = events[0], events[-1]
    assert start["replyId"] == end["replyId"]
    run = events[1].execution
    assert all(run.values())
    assert {tuple(e.execution.items()) for e in events} == {tuple(run.items())}


async def test_tools_run_in_streams_too_and_their_results_are_events() -> None:
    async with harness(InMemoryThreadJournal()).permission_context(BYPASS).build() as agent:
        events = await collect(agent, '/tool calculator {"expression": "6*7"}')
    check_balance(events)
    delta = next(e for e in events if e.type is EventType.TOOL_RESULT_TEXT_DELTA)
    assert delta["delta"] == "42"
    assert names(events).count("AGENT_END") == 1


async def test_parallel_results_end_in_call_order_after_the_whole_batch() -> None:
    wanted = '[{"name":"sleep","input":{"seconds":0.03}},{"name":"current_time"}]'
    async with harness(InMemoryThreadJournal()).permission_context(BYPASS).build() as agent:
        events = await collect(agent, f"/tools {wanted}")
    check_balance(events)
    ends = [e["toolCallName"] for e in events if e.type is EventType.TOOL_RESULT_END]
    assert ends == ["sleep", "current_time"]


async def test_a_tool_that_reported_progress_shows_no_second_copy() -> None:
    @tool(effect="none")
    async def busy(context: ToolContext) -> str:
        context.progress("half ")
        context.progress("whole ")
        return "the result"

    model = ScriptModel(calls(("busy", "{}")), says("ok"))
    builder = harness(InMemoryThreadJournal(), model).tools(busy).permission_context(BYPASS)
    async with builder.build() as agent:
        events = await collect(agent)
    check_balance(events)
    deltas = [e["delta"] for e in events if e.type is EventType.TOOL_RESULT_TEXT_DELTA]
    assert deltas == ["half ", "whole "]


async def test_an_error_ends_blocks_model_call_and_agent_before_it_is_raised() -> None:
    async def breaks(request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        yield TextChunk("incomplete answer")
        raise ModelError("gone", retryable=True)

    async with harness(InMemoryThreadJournal(), ScriptModel(breaks)).build() as agent:
        events: list[Event] = []

        async def watch() -> None:
            async for event in agent.stream_events("original question", context()):
                events.append(event)

        with pytest.raises(ModelError):
            await watch()
        state = await agent.get_agent_state(context())
    assert names(events)[-3:] == ["TEXT_BLOCK_END", "MODEL_CALL_END", "AGENT_END"]
    assert [m.text for m in state.context] == ["original question"]


async def test_a_question_emits_confirm_before_stop_and_the_answer_names_the_same_reply() -> None:
    from agentadmin.engine.agents.direct import confirm_message

    async with harness(InMemoryThreadJournal()).build() as agent:
        events = await collect(agent, '/tool calculator {"expression": "1"}')
        confirm = next(e for e in events if e.type is EventType.REQUIRE_USER_CONFIRM)
        assert names(events).index("REQUIRE_USER_CONFIRM") < names(events).index("REQUEST_STOP")
        (call,) = confirm["toolCalls"]
        assert confirm["suggestedRules"][call["id"]][0]["behavior"] == "allow"
        answer = confirm_message([{"confirmed": True, "toolCall": call}])
        later = [e async for e in agent.stream_events(answer, context())]
    result = next(e for e in later if e.type is EventType.USER_CONFIRM_RESULT)
    assert result["replyId"] == confirm["replyId"]
    assert names(later).index("USER_CONFIRM_RESULT") < names(later).index("TOOL_RESULT_END")


async def test_hidden_tools_are_not_shown_as_calls() -> None:
    model = ScriptModel(calls(("__internal", "{}")), says("ok"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        events = await collect(agent)
    assert "TOOL_CALL_START" not in names(events)


async def test_events_say_their_type_once_and_leave_out_nulls() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        events = await collect(agent)
    raw = events[0].to_dict()
    assert list(raw)[:3] == ["type", "id", "createdAt"]
    assert raw["execution"]["runId"]
    assert None not in raw.values()


async def test_deltas_have_a_wire_form_and_other_events_have_none() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        events = await collect(agent, "/echo abc")
    wires = [wire for event in events if (wire := to_wire(event)) is not None]
    assert [wire.type for wire in wires] == [
        "text_block_start",
        "text_block_delta",
        "text_block_end",
    ]
    block = wires[0].data["block"]
    assert block.endswith("/1/1")
    assert wires[1].data == {"block": block, "offset": 0, "delta": "abc"}
    assert wires[2].data["offset"] == 3
    assert wires[0].data["message_id"]


async def test_leaving_a_stream_early_cancels_the_call() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        stream = agent.stream_events("/slow 1000 5", context())
        async for event in stream:
            if event.type is EventType.TEXT_BLOCK_DELTA:
                break
        await stream.aclose()
        assert not await agent.interrupt(context())
        state = await agent.get_agent_state(context())
    assert state.context[0].text == "/slow 1000 5"
    assert len(asyncio.all_tasks()) == 1
