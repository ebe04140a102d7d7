"""The gate of a thread, and the single-use handle on a run."""

from __future__ import annotations

import asyncio

import pytest

from agentadmin.engine.agents.gate import ThreadGate
from agentadmin.engine.agents.handle import HandleStatus
from agentadmin.engine.errors import Conflict, ModelError
from agentadmin.engine.identity import ThreadKey
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from tests.engine.agents.scene import ScriptModel, context, harness, says, until
from tests.engine.agents.test_interrupts import endless

KEY = ThreadKey("default", None, "s", "a")
OTHER = ThreadKey("default", None, "s", "a", "other")


async def test_a_thread_is_entered_in_order_of_arrival_and_the_gate_forgets_it() -> None:
    gate, order = ThreadGate(), list[int]()

    async def enter(number: int) -> None:
        async with gate.enter(KEY):
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(enter(number) for number in range(20)))
    assert order == list(range(20))
    assert len(gate) == 0


async def test_cancelling_a_waiter_never_lets_its_successor_in_early() -> None:
    gate, inside = ThreadGate(), list[str]()
    leave = asyncio.Event()

    async def first() -> None:
        async with gate.enter(KEY):
            inside.append("first")
            await leave.wait()
            inside.append("first left")

    async def later(name: str) -> None:
        async with gate.enter(KEY):
            inside.append(name)

    tasks = [asyncio.create_task(first())]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(later("second")), asyncio.create_task(later("third"))]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0.01)
    assert inside == ["first"]
    leave.set()
    await asyncio.wait(tasks)
    assert inside == ["first", "first left", "third"]
    assert len(gate) == 0


async def test_a_waiter_cancelled_in_the_moment_it_is_called_calls_the_next() -> None:
    gate = ThreadGate()
    entered = list[str]()

    async def enter(name: str) -> None:
        async with gate.enter(KEY):
            entered.append(name)

    async with gate.enter(KEY):
        second, third = asyncio.create_task(enter("second")), asyncio.create_task(enter("third"))
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait({second, third}, timeout=1)
    assert entered == ["third"]


async def test_sibling_threads_run_side_by_side() -> None:
    gate = ThreadGate()
    async with gate.enter(KEY), asyncio.timeout(1), gate.enter(OTHER):
        assert len(gate) == 2


async def test_concurrent_calls_on_one_session_lose_no_message() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        await asyncio.gather(*(agent.call(f"m{i}", context()) for i in range(8)))
        state = await agent.get_agent_state(context())
    asked = [m.text for m in state.context[::2]]
    assert asked == [f"m{i}" for i in range(8)]


async def test_a_handle_knows_its_run_id_before_it_starts_and_is_used_once() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        run = agent.prepare_call("hi", context())
        assert run.status is HandleStatus.CREATED
        events = [event async for event in run.stream()]
        assert {event.execution["runId"] for event in events} == {run.run_id}
        assert await run.termination() is HandleStatus.COMPLETED
        with pytest.raises(Conflict):
            await run.result()


async def test_an_unbound_context_gets_a_new_run_id_for_every_call() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        ctx = context()
        first, second = agent.prepare_call("a", ctx), agent.prepare_call("b", ctx)
        await first.result()
        await second.result()
    assert first.run_id != second.run_id
    assert ctx.run_id is None
    assert ctx.agent_state is None


async def test_a_handle_cancelled_before_its_start_never_runs() -> None:
    model = ScriptModel(says("never"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        run = agent.prepare_call("hi", context())
        run.interrupt()
        with pytest.raises(asyncio.CancelledError):
            await run.result()
        assert await run.termination() is HandleStatus.CANCELLED
    assert model.requests == []


async def test_a_queued_handle_is_cancelled_without_touching_the_running_one() -> None:
    model = ScriptModel(endless)
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        first = agent.prepare_call("a", context())
        running = asyncio.create_task(first.result())
        await until(lambda: model.requests)
        second = agent.prepare_call("b", context())
        queued = asyncio.create_task(second.result())
        await until(lambda: second.status is HandleStatus.QUEUED)
        second.interrupt()
        with pytest.raises(asyncio.CancelledError):
            await queued
        assert first.status is HandleStatus.RUNNING
        first.interrupt()
        await running
        assert first.status is HandleStatus.COMPLETED


async def test_a_failed_handle_says_so() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        run = agent.prepare_call("/fail permanent", context())
        with pytest.raises(ModelError):
            await run.result()
        assert run.status is HandleStatus.FAILED
