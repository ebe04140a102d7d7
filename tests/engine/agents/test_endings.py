"""The rarer ends of a run: limits, shutdowns, lost leases, lost outcomes, failing stores."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents import journal_home
from agentadmin.engine.agents.interrupt import InterruptControl, InterruptSource
from agentadmin.engine.agents.middleware import Middleware, NextActing, Outcomes, StopRequest
from agentadmin.engine.errors import (
    Fenced,
    InvalidInput,
    ModelError,
    NeedsReconcile,
    NotFound,
    ShuttingDown,
)
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import ImageBlock, ToolResultBlock, ToolUseBlock, url_source
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import (
    BYPASS,
    CountingJournal,
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    last,
    plain,
    says,
    until,
)
from tests.engine.agents.test_interrupts import Tools, endless

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from agentadmin.engine.agents.agent import Agent
    from agentadmin.engine.messages import Msg
    from agentadmin.engine.models.base import Chunk, ModelRequest
    from agentadmin.engine.runtime_context import RuntimeContext


async def failing(request: ModelRequest) -> AsyncGenerator[Chunk, None]:
    raise ModelError("no summary today", retryable=False)
    yield


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (says("what I found"), "what I found"),
        ([], "Maximum iterations (1) reached."),
        (failing, "Maximum iterations (1) reached. Error generating summary: no summary today"),
    ],
)
async def test_the_last_word_at_the_limit_is_a_summary_or_says_why_not(
    summary: Any, text: str
) -> None:
    model = ScriptModel(calls(("current_time", "{}")), summary)
    builder = harness(InMemoryThreadJournal(), model).permission_context(BYPASS).max_iters(1)
    async with builder.build() as agent:
        reply = await agent.call("go", context())
        state = await agent.get_agent_state(context())
    assert (reply.text, str(reply.finish_reason)) == (text, "MAX_ITERATIONS")
    assert state.context[-1] == reply
    assert model.requests[1].tools == ()


async def test_an_outside_effects_result_is_committed_while_its_siblings_still_run() -> None:
    scene, journal = Tools(), CountingJournal()
    model = ScriptModel(calls(("order", "{}"), ("work", "{}")), says("done"))
    order = tool(name="order")(lambda: "ordered")
    working = tool(effect="none", name="work")(scene.work)
    builder = harness(journal, model).tools(order, working).permission_context(BYPASS)
    async with builder.build() as agent:
        call = asyncio.create_task(agent.call("go", context()))
        await until(lambda: ["tool/result"] in journal.batches)
        assert not scene.finish.is_set()
        scene.finish.set()
        assert (await call).text == "done"


async def test_pictures_come_as_data_events() -> None:
    picture = ImageBlock.make(url_source("https://example.com/a.png"))
    model = ScriptModel(calls(("draw", "{}")), says("done"))
    draw = tool(effect="none", name="draw")(lambda: picture)
    async with plain(model).tools(draw).permission_context(BYPASS).build() as agent:
        events = [event async for event in agent.stream_events("go", context())]
    data = [event["data"] for event in events if event.type == "TOOL_RESULT_DATA_DELTA"]
    assert data == [picture.raw]


class Forgetful(Middleware):
    """Loses the outcomes of tools, or invents some."""

    async def on_acting(
        self, ctx: RuntimeContext, calls: Sequence[ToolUseBlock], proceed: NextActing
    ) -> Outcomes:
        await proceed(calls)
        return {}


async def test_a_call_whose_outcome_a_middleware_lost_is_not_run_again() -> None:
    runs = []
    counted = tool(name="count_me")(lambda: str(runs.append(1)))
    model = ScriptModel(calls(("count_me", "{}")), says("done"))
    builder = plain(model).tools(counted).permission_context(BYPASS).middleware(Forgetful())
    async with builder.build() as agent:
        assert (await agent.call("go", context())).text == "done"
        state = await agent.get_agent_state(context())
    assert len(runs) == 1
    assert "without returning a result" in state.context[2].blocks(ToolResultBlock)[0].text


async def test_a_middleware_that_overrides_nothing_changes_nothing() -> None:
    builder = plain().middleware(Middleware()).permission_context(BYPASS)
    async with builder.build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())
    assert reply.text == "calculator returned: 1"


class StopsBefore(Middleware):
    """Ends the run before its first model call."""

    async def on_reasoning(self, ctx: RuntimeContext, request: Any, proceed: Any) -> Msg | None:
        stop = ctx.get(StopRequest)
        assert stop is not None
        stop.request("not today")
        return None


async def test_a_stop_before_the_first_word_gives_an_empty_reply() -> None:
    async with plain().middleware(StopsBefore()).build() as agent:
        assert (await agent.call("go", context())).text == ""


class StopsAfterActing(Middleware):
    """Ends the run when the tools have run."""

    async def on_acting(
        self, ctx: RuntimeContext, calls: Sequence[ToolUseBlock], proceed: NextActing
    ) -> Outcomes:
        stop = ctx.get(StopRequest)
        assert stop is not None
        stop.request("seen enough")
        return await proceed(calls)


async def test_a_stop_after_acting_keeps_the_results() -> None:
    model = ScriptModel(calls(("current_time", "{}")))
    builder = plain(model).middleware(StopsAfterActing()).permission_context(BYPASS)
    async with builder.build() as agent:
        reply = await agent.call("go", context())
        state = await agent.get_agent_state(context())
    assert str(reply.finish_reason) == "MIDDLEWARE_STOP_REQUESTED"
    assert [m.role for m in state.context] == ["USER", "ASSISTANT", "TOOL"]


async def running(agent: Agent, model: ScriptModel) -> tuple[asyncio.Task[Msg], InterruptControl]:
    """A direct call that streams, with the control of its execution."""
    run = agent.prepare_call("hello", context())
    task = asyncio.create_task(run.result())
    await until(lambda: model.requests)
    return task, run.control


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_shutdown_fails_the_call_and_the_same_message_again_continues_it(
    keeps: bool,
) -> None:
    store, model = InMemoryAgentStateStore(), ScriptModel(endless, says("whole"))
    builder = plain(model).state_store(store).keep_partial_on_shutdown(keeps)
    async with builder.build() as agent:
        task, control = await running(agent, model)
        control.trigger(InterruptSource.SYSTEM)
        with pytest.raises(ShuttingDown):
            await task
        state = await agent.get_agent_state(context())
        partial = ["partial"] if keeps else []
        assert [m.text for m in state.context] == ["hello", *partial]
        assert state.shutdown_interrupted
        await agent.call("hello", context())
        state = await agent.get_agent_state(context())
    assert [m.text for m in state.context] == ["hello", *partial, "whole"]
    assert not state.shutdown_interrupted


async def test_a_shutdown_marks_only_the_session_that_was_running() -> None:
    model = ScriptModel(endless, says("a"), says("b"))
    async with plain(model).build() as agent:
        task, control = await running(agent, model)
        control.trigger(InterruptSource.SYSTEM)
        await asyncio.wait({task})
        assert (await agent.call("hello", context("other"))).text == "a"
        assert not (await agent.get_agent_state(context("other"))).shutdown_interrupted
        assert (await agent.get_agent_state(context())).shutdown_interrupted
        assert isinstance(task.exception(), ShuttingDown)


async def test_a_shutdown_leaves_a_started_outside_effect_for_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentadmin.engine.agents.running.SHUTDOWN_PATIENCE", 0.01)
    scene, journal = Tools(), InMemoryThreadJournal()
    model = ScriptModel(calls(("work", "{}")))
    builder = harness(journal, model).tools(tool(name="work")(scene.work))
    async with builder.permission_context(BYPASS).build() as agent:
        run = agent.prepare_call("go", context())
        task = asyncio.create_task(run.result())
        await scene.started.wait()
        run.control.trigger(InterruptSource.SYSTEM)
        with pytest.raises(ShuttingDown):
            await task
        with pytest.raises(NeedsReconcile):
            await agent.call("hello", context())
        with pytest.raises(NeedsReconcile):
            await agent.clear_context(context())


async def test_a_caller_that_leaves_an_outside_effect_leaves_a_question_behind() -> None:
    scene, journal = Tools(), InMemoryThreadJournal()
    model = ScriptModel(calls(("work", "{}"), ("current_time", "{}")))
    builder = harness(journal, model).tools(tool(name="work")(scene.work))
    async with builder.permission_context(BYPASS).build() as agent:
        task = asyncio.create_task(agent.call("go", context()))
        await scene.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        wait = last(await facts_of(journal, agent), "turn/suspended").payload["wait"]
        assert (wait["kind"], wait["ids"]) == ("reconcile", ["c1"])
        for results, problem in (
            ({}, "has no outcome for c1"),
            ({"c1": "x", "c9": "y"}, "c9"),
            ({"c1": {"output": "x", "state": "perhaps"}}, r"c1\.state"),
        ):
            with pytest.raises(InvalidInput, match=problem):
                await agent.reconcile_tool_outcomes(context(), results, "looked")
        await agent.reconcile_tool_outcomes(context(), {"c1": {"output": "x"}}, "looked")
        with pytest.raises(InvalidInput, match="no call with an unknown outcome"):
            await agent.reconcile_tool_outcomes(context(), {}, "again")


async def test_reconciling_needs_a_known_thread_and_a_journal() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        with pytest.raises(NotFound):
            await agent.reconcile_tool_outcomes(context("never"), {}, "because")
    async with plain().build() as agent:
        with pytest.raises(InvalidInput):
            await agent.reconcile_tool_outcomes(context(), {}, "because")
        with pytest.raises(InvalidInput, match="2000"):
            await agent.update_agent_state(context(), "x" * 2001, lambda state: None)


async def test_a_lost_lease_stops_the_call_and_nothing_more_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Flaky(CountingJournal):
        renewals = 0

        async def renew(self, *arguments: Any) -> None:
            self.renewals += 1
            if self.renewals == 1:
                raise OSError("the database is away")
            raise Fenced()

    monkeypatch.setattr(journal_home, "RENEW_SECONDS", 0.005)
    journal, model = Flaky(), ScriptModel(endless)
    async with harness(journal, model).build() as agent:
        with pytest.raises(Fenced):
            await agent.call("hi", context())
    assert journal.renewals == 2
    assert len(journal.batches) == 1


async def test_only_recently_used_threads_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_home, "KEPT_THREADS", 1)
    async with harness(InMemoryThreadJournal()).build() as agent:
        for session in ("a", "b", "a"):
            reply = await agent.call("/count", context(session))
        assert reply.text == "3 messages"


async def test_a_fresh_thread_starts_with_its_agents_groups() -> None:
    hidden = tool(effect="none", name="hidden", group="g")(lambda: "seen")
    model = ScriptModel(calls(("hidden", "{}")), says("ok"))
    builder = plain(model).tools(hidden).active_groups("g").permission_context(BYPASS)
    async with builder.build() as agent:
        await agent.call("go", context())
        state = await agent.get_agent_state(context())
    assert state.tool_context.activated_groups == ("g",)
    assert state.context[2].blocks(ToolResultBlock)[0].text == "seen"


async def test_a_tool_that_cancels_itself_has_failed() -> None:
    async def resign() -> str:
        raise asyncio.CancelledError

    model = ScriptModel(calls(("resign", "{}")), says("ok"))
    builder = plain(model).tools(tool(resign)).permission_context(BYPASS)
    async with builder.build() as agent:
        await agent.call("go", context())
        state = await agent.get_agent_state(context())
    assert "the tool cancelled itself" in state.context[2].blocks(ToolResultBlock)[0].text


async def test_memory_exhaustion_and_bugs_are_not_made_up_replies() -> None:
    def exhausted() -> str:
        raise MemoryError

    class Buggy(Middleware):
        async def on_system_prompt(self, ctx: RuntimeContext, prompt: str) -> str:
            raise TypeError("a bug")

    model = ScriptModel(calls(("exhausted", "{}")))
    async with plain(model).tools(tool(exhausted)).permission_context(BYPASS).build() as agent:
        with pytest.raises(MemoryError):
            await agent.call("go", context())
    journal = InMemoryThreadJournal()
    async with harness(journal).middleware(Buggy()).build() as agent:
        with pytest.raises(TypeError):
            await agent.call("go", context())
        error = last(await facts_of(journal, agent), "turn/failed").payload["error"]
    assert error == {"code": "error", "detail": "TypeError: a bug"}


async def test_a_commit_that_was_begun_ends_although_its_caller_is_gone() -> None:
    class Slow(CountingJournal):
        def __init__(self) -> None:
            super().__init__()
            self.entered, self.go_on = asyncio.Event(), asyncio.Event()

        async def commit(self, *arguments: Any) -> Any:
            self.entered.set()
            await self.go_on.wait()
            return await super().commit(*arguments)

    journal = Slow()
    async with harness(journal).build() as agent:
        task = asyncio.create_task(agent.call("hello", context()))
        await journal.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        journal.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        state = await agent.get_agent_state(context())
    assert [m.text for m in state.context] == ["hello"]
    assert journal.batches[-1] == ["turn/cancelled", "run/end"]
