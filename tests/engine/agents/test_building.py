"""Builders: what they refuse, what middleware may do, and agents from the user's own package."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.agents import registry
from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.agents.middleware import (
    Middleware,
    NextActing,
    NextAgent,
    NextModel,
    NextReasoning,
    Outcomes,
    StopRequest,
)
from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import FinishReason, Msg, ToolResultState, ToolUseBlock
from agentadmin.engine.models.base import Chunk, ModelRequest, TextChunk
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from agentadmin.engine.tools.executor import ToolOutcome
from tests.engine.agents.scene import (
    BYPASS,
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    last,
    plain,
    says,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from pathlib import Path

    from agentadmin.engine.agents.admission import RunResult
    from agentadmin.engine.runtime_context import RuntimeContext


def test_builders_refuse_what_cannot_work() -> None:
    journal, store = InMemoryThreadJournal(), InMemoryAgentStateStore()
    builder = HarnessAgent.builder
    with pytest.raises(InvalidInput, match="name"):
        builder().model("offline:demo").thread_journal_store(journal).build()
    with pytest.raises(InvalidInput, match="model"):
        builder().name("a").thread_journal_store(journal).build()
    with pytest.raises(InvalidInput, match="journal"):
        builder().name("a").model("offline:demo").build()
    with pytest.raises(InvalidInput, match="state_store"):
        builder().name("a").model("offline:demo").journal_enabled(False).build()
    with pytest.raises(InvalidInput, match="state_store"):
        harness(journal).state_store(store).build()
    with pytest.raises(InvalidInput, match="thread_journal_store"):
        harness(journal).journal_enabled(False).state_store(store).build()
    with pytest.raises(InvalidInput, match="provider"):
        plain("nobody:x").build()
    with pytest.raises(InvalidInput, match="max_iters"):
        plain().max_iters(0)
    with pytest.raises(InvalidInput, match="two tools"):
        plain().tools(*plain()._tools[:1]).build()


def test_one_builder_builds_independent_agents() -> None:
    builder = plain()
    assert builder.build() is not builder.build()


class Recorder(Middleware):
    """Writes down when it is entered and left."""

    def __init__(self, name: str, order: int, log: list[str]) -> None:
        self.name, self.order, self.log = name, order, log

    async def on_agent(self, ctx: RuntimeContext, proceed: NextAgent) -> RunResult:
        self.log.append(f"{self.name} in")
        result = await proceed()
        self.log.append(f"{self.name} out")
        return result


async def test_a_larger_order_lies_further_outside() -> None:
    log: list[str] = []
    builder = plain().middleware(Recorder("one", 1, log), Recorder("two", 2, log))
    async with builder.build() as agent:
        await agent.call("hi", context())
    assert log == ["two in", "one in", "one out", "two out"]


class Shouting(Middleware):
    """Changes the prompt, the text and the tools' outcomes."""

    async def on_system_prompt(self, ctx: RuntimeContext, prompt: str) -> str:
        return f"{prompt} Shout."

    async def on_model_call(
        self, ctx: RuntimeContext, request: ModelRequest, proceed: NextModel
    ) -> AsyncGenerator[Chunk, None]:
        async for chunk in proceed(request):
            yield TextChunk(chunk.text.upper()) if isinstance(chunk, TextChunk) else chunk

    async def on_acting(
        self, ctx: RuntimeContext, calls: Sequence[ToolUseBlock], proceed: NextActing
    ) -> Outcomes:
        outcomes = await proceed(calls)
        loud = ToolOutcome.of_text("LOUD", ToolResultState.SUCCESS)
        return dict.fromkeys(outcomes, loud)


async def test_what_middleware_makes_of_text_and_results_is_what_is_stored() -> None:
    model = ScriptModel(calls(("calculator", '{"expression": "1"}')), says("done"))
    builder = plain(model).sys_prompt("Be kind.").permission_context(BYPASS)
    async with builder.middleware(Shouting()).build() as agent:
        assert (await agent.call("hi", context())).text == "DONE"
        state = await agent.get_agent_state(context())
    assert model.requests[0].messages[0].text == "Be kind. Shout."
    assert state.context[2].content[0].text == "LOUD"  # type: ignore[attr-defined]


class Stopper(Middleware):
    """Ends the run after reasoning."""

    async def on_reasoning(
        self, ctx: RuntimeContext, request: ModelRequest, proceed: NextReasoning
    ) -> Msg | None:
        message = await proceed(request)
        stop = ctx.get(StopRequest)
        assert stop is not None
        stop.request("enough", FinishReason.REASONING_STOP_REQUESTED)
        stop.request("the second one does not count")
        return message


async def test_a_requested_stop_keeps_the_message_and_answers_its_open_calls() -> None:
    journal = InMemoryThreadJournal()
    model = ScriptModel(calls(("calculator", '{"expression": "1"}')))
    async with harness(journal, model).middleware(Stopper()).build() as agent:
        reply = await agent.call("go", context())
        facts = await facts_of(journal, agent)
        state = await agent.get_agent_state(context())
    assert str(reply.finish_reason) == "REASONING_STOP_REQUESTED"
    assert last(facts, "turn/completed").payload["outcome"] == "stopped"
    assert [m.role for m in state.context] == ["USER", "ASSISTANT", "TOOL"]


@pytest.fixture
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package as a user would write it."""
    (tmp_path / "own_agents.py").write_text(
        "from agentadmin.engine import HarnessAgent\n\n\n"
        "def poet():\n"
        '    builder = HarnessAgent.builder().name("Poet").agent_id("poet")\n'
        '    return builder.model("offline:demo")\n\n\n'
        "def nothing():\n    return None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_agents"
    sys.modules.pop("own_agents", None)


async def test_an_own_agent_is_found_by_its_path_and_runs(own_package: str) -> None:
    found = registry.discover([f"{own_package}:poet", f"{own_package}.poet"][:1])
    assert list(found) == ["poet"]
    builder = found["poet"].builder()
    assert isinstance(builder, HarnessAgentBuilder)
    async with builder.thread_journal_store(InMemoryThreadJournal()).build() as agent:
        assert (await agent.call("hi", context())).text == "You said: hi"


async def test_wrong_agents_are_refused_by_their_path(own_package: str) -> None:
    with pytest.raises(InvalidInput, match="not an agent builder"):
        registry.discover([f"{own_package}:nothing"])
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        registry.discover([f"{own_package}:missing"])
    with pytest.raises(InvalidInput, match="both define the agent poet"):
        registry.discover([f"{own_package}:poet", f"{own_package}.poet"])
