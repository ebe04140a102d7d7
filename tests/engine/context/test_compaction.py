"""Where a compaction cuts, what its request holds, and that a failed summary changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.context.compaction import (
    keep_budget,
    plan_by_count,
    plan_by_tokens,
    summarise,
    told,
)
from agentadmin.engine.context.request import check_pairs
from agentadmin.engine.errors import ModelError
from agentadmin.engine.messages import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant_message,
    tool_message,
    user_message,
)
from agentadmin.engine.models.base import ChunkStream, ModelRequest, Purpose, TextChunk
from agentadmin.engine.models.scripted import OfflineModel
from agentadmin.engine.state.agent_state import AgentState


def called(call_id: str, **given: Any) -> Msg:
    return assistant_message([ToolUseBlock.make(id=call_id, name="look", **given)], name="demo")


def answered(call_id: str) -> Msg:
    return tool_message(ToolResultBlock.make(id=call_id, name="look", output="seen"), name="demo")


def state_of(*messages: Msg) -> AgentState:
    state = AgentState.new("s-1", "alice")
    state.set_context(messages)
    return state


def test_the_tail_that_fits_stays_and_at_least_one_message() -> None:
    state = state_of(*(user_message("x" * 250) for _ in range(10)))
    assert plan_by_tokens(state, 105 * 3).cut == 7
    assert plan_by_tokens(state, 1).cut == 9
    assert plan_by_tokens(state, 100_000).cut == 0
    assert [keep_budget(w) for w in (0, 30_000, 1_000_000)] == [2_000, 2_500, 8_000]


def test_a_cut_never_parts_a_call_from_its_result() -> None:
    state = state_of(
        user_message("a"), called("c1"), answered("c1"), called("c2"), answered("c2"), called("c1")
    )
    for keep in range(7):
        found = plan_by_count(state, keep)
        tail = state.context[found.cut :]
        assert tail[:1] == () or tail[0].role != "TOOL"
        check_pairs([*tail, *([answered("c1")] if found.cut < 6 else [])])


def test_a_result_whose_call_nobody_knows_leaves_with_the_past() -> None:
    state = state_of(user_message("a"), answered("lost"), user_message("b"))
    assert plan_by_count(state, 2).cut == 2


@pytest.mark.parametrize("waits", ["pending", "asking"])
def test_an_open_call_and_what_follows_are_never_touched(waits: str) -> None:
    state = state_of(user_message("a"), called("c1", state=waits), user_message("b"))
    assert plan_by_count(state, 0).cut == 1


def test_a_request_tells_calls_and_results_in_words() -> None:
    message = assistant_message(
        [
            ThinkingBlock.make("hm"),
            TextBlock.make("I look"),
            ToolUseBlock.make(id="c", name="look", input={"at": "y" * 9_000}),
        ],
        name="demo",
    )
    words = told(message).text
    assert words.startswith('I look\n[called the tool look with {"at":"yyy')
    assert "chars left out" in words
    assert len(words) < 2_200
    assert told(answered("c")).role == "USER"
    assert told(answered("c")).text == "[look gave, success: seen]"


async def test_the_offline_model_counts_what_is_condensed() -> None:
    head = [user_message("a"), called("c1"), answered("c1")]
    assert await summarise(OfflineModel(), head, "") == "Summary of 3 messages."
    assert await summarise(OfflineModel(), head, "earlier") == "Summary of 3 messages."


class Model(OfflineModel):
    """Answers what the test says, and keeps what it was asked."""

    def __init__(self, *answers: str | ModelError) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> ChunkStream:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        yield TextChunk(answer)


async def test_a_summary_is_asked_for_again_when_that_may_help() -> None:
    model = Model(ModelError("busy", retryable=True), " short ")
    assert await summarise(model, [user_message("a")], "before") == "short"
    first, again = model.asked
    assert (first.purpose, again.attempt) == (Purpose.SUMMARY, 1)
    assert first.tools == ()
    assert "before" in first.messages[1].text
    assert len({message.id for message in first.messages}) == len(first.messages)


@pytest.mark.parametrize("answer", [ModelError("no", retryable=False), "", "  \n"])
async def test_no_summary_is_an_error(answer: str | ModelError) -> None:
    with pytest.raises(ModelError):
        await summarise(Model(answer), [user_message("a")], "")
