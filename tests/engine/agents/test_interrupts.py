"""Interrupts: what stops, what is kept, and which result every open call gets."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.agents.interrupt import (
    InterruptControl,
    Interrupted,
    InterruptKind,
    InterruptSource,
)
from agentadmin.engine.agents.middleware import Middleware, NextReasoning
from agentadmin.engine.errors import NeedsReconcile
from agentadmin.engine.events import EventType
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import Msg, ToolResultBlock, user_message
from agentadmin.engine.models.base import Chunk, ModelRequest, TextChunk
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from agentadmin.engine.tools.toolkit import tool
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
    types_of,
    until,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from agentadmin.engine.runtime_context import RuntimeContext
    from agentadmin.engine.tools.context import ToolContext

PATIENCE_SECONDS = 5.0
RECOVERY = "I noticed that you have interrupted me. What can I do for you?"


def texts(messages: tuple[Msg, ...]) -> list[str]:
    return [message.text for message in messages]


async def endless(request: ModelRequest) -> AsyncGenerator[Chunk, None]:
    yield TextChunk("partial")
    await asyncio.Event().wait()


async def test_an_interrupted_stream_keeps_its_part_the_recovery_reply_and_the_message() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal, ScriptModel(endless)).build() as agent:
        seen = []
        async for event in agent.stream_events("hi", context()):
            seen.append(event.type)
            if event.type is EventType.TEXT_BLOCK_DELTA:
                assert await agent.interrupt(context(), "please stop")
        state = await agent.get_agent_state(context())
        facts = await facts_of(journal, agent)
    assert texts(state.context) == ["hi", "partial", RECOVERY, "please stop"]
    assert state.context[2].metadata["agentscope_generate_reason"] == "INTERRUPTED"
    assert seen[-1] is EventType.AGENT_END
    assert last(facts, "turn/completed").payload == {
        "outcome": "interrupted",
        "reply": state.context[2].id,
    }
    assert last(facts, "run/end").payload["status"] == "interrupted"


async def test_an_interrupt_addresses_only_the_session_that_it_names() -> None:
    model = ScriptModel(endless, says("fine"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        first = asyncio.create_task(agent.call("a", context("a")))
        await until(lambda: len(model.requests) == 1)
        assert (await agent.call("b", context("b"))).text == "fine"
        assert not await agent.interrupt(context("b"))
        assert not first.done()
        assert await agent.interrupt(context("a"))
        assert (await first).text == RECOVERY


async def test_nothing_of_an_interrupt_is_left_for_the_next_call() -> None:
    model = ScriptModel(endless, says("resumed-ok"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        call = asyncio.create_task(agent.call("a", context()))
        await until(lambda: model.requests)
        await agent.interrupt(context())
        await call
        assert (await agent.call("b", context())).text == "resumed-ok"


class Tools:
    """Tools that tell when they start, and how they end."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.finish = asyncio.Event()
        self.cancelled = False

    async def work(self) -> str:
        self.started.set()
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "worked"


async def interrupted_tool(effect: str, *, finishing: bool = False) -> tuple[Tools, list[Msg]]:
    """One call of a tool with this effect, interrupted while it runs."""
    scene = Tools()
    working = tool(effect=effect, name="work")(scene.work)
    model = ScriptModel(calls(("work", "{}")))
    store = InMemoryThreadJournal()
    builder = harness(store, model).tools(working).permission_context(BYPASS)
    async with builder.build() as agent:
        call = asyncio.create_task(agent.call("go", context()))
        await scene.started.wait()
        await agent.interrupt(context())
        if finishing:
            await asyncio.sleep(0)
            scene.finish.set()
        await call
        return scene, list((await agent.get_agent_state(context())).context)


def outcome(messages: list[Msg]) -> tuple[str, str]:
    block = messages[2].blocks(ToolResultBlock)[0]
    return block.state, block.text


async def test_a_running_tool_without_effect_is_cancelled() -> None:
    scene, messages = await interrupted_tool("none")
    assert scene.cancelled
    assert outcome(messages)[0] == "interrupted"
    assert messages[-1].text == RECOVERY


@pytest.mark.parametrize("effect", ["idempotent", "external"])
async def test_a_running_tool_with_effect_is_awaited_and_its_result_kept(effect: str) -> None:
    scene, messages = await interrupted_tool(effect, finishing=True)
    assert not scene.cancelled
    assert outcome(messages) == ("success", "worked")
    assert messages[-1].text == RECOVERY


async def test_an_outside_effect_that_does_not_end_waits_for_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience = "agentadmin.engine.agents.running.PATIENCE"
    monkeypatch.setattr(patience, {"none": 0.0, "idempotent": 0.05, "external": 0.05})
    scene = Tools()
    journal = InMemoryThreadJournal()
    model = ScriptModel(calls(("work", "{}")))
    builder = harness(journal, model).tools(tool(name="work")(scene.work))
    async with builder.permission_context(BYPASS).build() as agent:
        call = asyncio.create_task(agent.call("go", context()))
        await scene.started.wait()
        await agent.interrupt(context(), "stop that")
        with pytest.raises(NeedsReconcile) as caught:
            await call
        assert caught.value.call_ids == ["c1"]
        with pytest.raises(NeedsReconcile):
            await agent.call("hello?", context())
        await agent.reconcile_tool_outcomes(context(), {"c1": "it did work"}, "looked it up")
        reply = await agent.call(None, context(), on_pending="reject")
        state = await agent.get_agent_state(context())
        facts = await facts_of(journal, agent)
    assert reply.text == RECOVERY
    assert texts(state.context)[-2:] == [RECOVERY, "stop that"]
    assert state.context[2].blocks(ToolResultBlock)[0].text == "it did work"
    assert last(facts, "turn/completed").payload["outcome"] == "interrupted"
    assert types_of(facts).count("tool/dispatch") == 1


class StopsAfterReasoning(Middleware):
    """Interrupts as soon as the model has answered."""

    async def on_reasoning(
        self, ctx: RuntimeContext, request: ModelRequest, proceed: NextReasoning
    ) -> Msg | None:
        message = await proceed(request)
        control = ctx.get(InterruptControl)
        assert control is not None
        control.trigger()
        return message


async def test_calls_that_had_not_started_get_one_result_each() -> None:
    model = ScriptModel(calls(("calculator", '{"expression":"1"}')), says("never"))
    builder = harness(InMemoryThreadJournal(), model).middleware(StopsAfterReasoning())
    async with builder.permission_context(BYPASS).build() as agent:
        assert (await agent.call("go", context())).text == RECOVERY
        state = await agent.get_agent_state(context())
    blocks = [b for m in state.context for b in m.blocks(ToolResultBlock)]
    assert [(b.id, b.state) for b in blocks] == [("c1", "interrupted")]
    assert blocks[0].text == (
        "[ERROR] Tool execution was interrupted before it could run. Tool: calculator"
    )


async def test_a_cooperative_sleep_ends_at_once() -> None:
    async with harness(InMemoryThreadJournal()).permission_context(BYPASS).build() as agent:
        call = asyncio.create_task(agent.call('/tool sleep {"seconds": 300}', context()))
        while not await agent.interrupt(context()):  # noqa: ASYNC110 - polls for the admission
            await asyncio.sleep(0.001)
        async with asyncio.timeout(5):
            assert (await call).text == RECOVERY


async def test_a_tool_may_stop_the_run_itself() -> None:
    @tool(effect="none")
    async def stop(context: ToolContext) -> str:
        context.interrupt(user_message("enough"))
        return "stopping"

    model = ScriptModel(calls(("stop", "{}")))
    builder = harness(InMemoryThreadJournal(), model).tools(stop)
    async with builder.permission_context(BYPASS).build() as agent:
        reply = await agent.call("go", context())
        state = await agent.get_agent_state(context())
    assert reply.text == RECOVERY
    assert texts(state.context)[-1] == "enough"


async def test_an_interrupted_call_of_the_plain_agent_is_saved_exactly_once() -> None:
    class Store(InMemoryAgentStateStore):
        saves = 0

        async def save_if_version(self, *arguments: object) -> int:
            Store.saves += 1
            return await super().save_if_version(*arguments)  # type: ignore[arg-type]

    model = ScriptModel(endless)
    store = Store()
    async with plain(model).state_store(store).build() as agent:
        call = asyncio.create_task(agent.call("hi", context()))
        await until(lambda: model.requests)
        await agent.interrupt(context())
        await call
    async with plain(ScriptModel(says("x"))).state_store(store).build() as rebuilt:
        state = await rebuilt.get_agent_state(context())
    assert texts(state.context) == ["hi", "partial", RECOVERY]
    assert Store.saves == 1


async def test_a_caller_that_goes_away_leaves_the_input_and_nothing_dangling() -> None:
    scene = Tools()
    journal = InMemoryThreadJournal()
    model = ScriptModel(calls(("work", "{}")))
    builder = harness(journal, model).tools(tool(effect="none", name="work")(scene.work))
    async with builder.permission_context(BYPASS).build() as agent:
        call = asyncio.create_task(agent.call("go", context()))
        await scene.started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        state = await agent.get_agent_state(context())
        facts = await facts_of(journal, agent)
    assert state.context[0].text == "go"
    assert [b.id for m in state.context for b in m.blocks(ToolResultBlock)] == ["c1"]
    assert last(facts, "turn/cancelled").payload["reason"] == "the caller went away"


async def test_a_control_wakes_a_scope_from_another_thread_within_200_ms() -> None:
    control = InterruptControl()
    threading.Timer(0.05, control.trigger).start()
    with pytest.raises(Interrupted):
        async with control.scope():
            await asyncio.sleep(PATIENCE_SECONDS)
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_pause_does_not_stop_a_stream_and_a_lost_lease_is_final() -> None:
    control = InterruptControl()
    control.trigger(kind=InterruptKind.PAUSE)
    control.check()
    control.trigger(InterruptSource.FENCED)
    control.trigger(message=user_message("too late"))
    assert control.signal is not None
    assert control.signal.source is InterruptSource.FENCED


async def test_a_later_trigger_keeps_an_earlier_message() -> None:
    control = InterruptControl()
    control.trigger(message=user_message("why"))
    control.trigger(InterruptSource.SYSTEM)
    assert control.signal is not None
    assert control.signal.message is not None
    assert control.signal.source is InterruptSource.SYSTEM


async def test_cancelling_the_task_from_outside_is_not_taken_for_an_interrupt() -> None:
    control = InterruptControl()

    async def work() -> None:
        async with control.scope():
            await asyncio.sleep(PATIENCE_SECONDS)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
