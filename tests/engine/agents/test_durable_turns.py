"""Turns that a host drives: admission, answers, takeover, shutdown, cancel, pause, edits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.agents.admission import Admission, RunStatus
from agentadmin.engine.agents.interrupt import InterruptControl, InterruptKind, InterruptSource
from agentadmin.engine.agents.reconcile import reconcile_outcomes
from agentadmin.engine.errors import Fenced, InvalidInput, TurnFinished
from agentadmin.engine.identity import new_id
from agentadmin.engine.messages import ToolResultBlock, user_message
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentadmin.engine.tools.builtin import OrderBook
from agentadmin.engine.tools.toolkit import Effect, tool
from tests.engine.agents.scene import (
    BYPASS,
    CountingJournal,
    Host,
    ScriptModel,
    calls,
    harness,
    last,
    says,
    until,
)
from tests.engine.agents.test_interrupts import RECOVERY, endless

if TYPE_CHECKING:
    from agentadmin.engine.agents.harness import HarnessAgent
    from agentadmin.engine.journal.writer import JournalWriter
    from agentadmin.engine.tools.context import ToolContext


class Orders:
    """An order system that remembers, and can be told to hang before or after recording."""

    def __init__(self) -> None:
        self.orders: list[str] = []
        self.hang = asyncio.Event()
        self.reached = asyncio.Event()
        self.hangs = False

    async def record_order(self, context: ToolContext, sku: str, quantity: int) -> str:
        self.orders.append(sku)
        self.reached.set()
        if self.hangs:
            await self.hang.wait()
        return str(len(self.orders))


def host(agent: HarnessAgent, journal: CountingJournal, orders: Orders | None = None) -> Host:
    ctx = RuntimeContext.empty()
    ctx.put(OrderBook, orders or Orders())
    return Host(journal, agent, ctx=ctx)


def results(host_messages: list) -> list[tuple[str, str]]:  # type: ignore[type-arg]
    return [(b.id, b.state) for m in host_messages for b in m.blocks(ToolResultBlock)]


async def test_a_submitted_turn_refers_to_its_input_and_releases_with_its_last_commit() -> None:
    journal = CountingJournal()
    scene = host(harness(journal).build(), journal)
    admission = await scene.submit("hello")
    result = await scene.run(admission)
    assert (result.status, result.turn_state, result.outcome) == ("completed", "completed", "done")
    assert result.released
    facts = await scene.facts()
    assert last(facts, "message/user").payload["input"] == {"seq": 1, "index": 0}
    assert last(facts, "run/start").payload["worker"] == "w1"
    assert len(journal.batches) == 3


async def approve(scene: Host, admission: Admission, **answer: object) -> Admission:
    asked = last(await scene.facts(), "interaction/requested").payload
    await scene.resolve(
        interaction_id=asked["interaction_id"], decision=answer.pop("decision", "approve"), **answer
    )
    return replace(admission, kind="resume", attempt=2)


async def test_an_approved_order_is_placed_once_and_its_turn_has_two_runs() -> None:
    journal, orders = CountingJournal(), Orders()
    scene = host(harness(journal).build(), journal, orders)
    admission = await scene.submit('/tool create_order {"sku": "tea", "quantity": 2}')
    parked = await scene.run(admission)
    assert (parked.status, parked.turn_state) == ("suspended", "waiting")
    assert parked.wait is not None
    assert parked.wait["kind"] == "approval"
    assert orders.orders == []
    done = await scene.run(await approve(scene, admission))
    assert done.outcome == "done"
    assert orders.orders == ["tea"]
    assert (await scene.messages())[-1].text == "create_order returned: order 1: 2 x tea"
    facts = await scene.facts()
    assert [f.payload["why"] for f in facts if f.type == "run/start"] == ["admitted", "resumed"]
    assert "turn/resumed" in journal.batches[4]
    assert "tool/dispatch" in journal.batches[4]


async def test_a_denied_order_is_not_placed() -> None:
    journal, orders = CountingJournal(), Orders()
    scene = host(harness(journal).build(), journal, orders)
    admission = await scene.submit('/tool create_order {"sku": "tea"}')
    await scene.run(admission)
    await scene.run(await approve(scene, admission, decision="deny", reason="no"))
    assert orders.orders == []
    assert (await scene.messages())[2].blocks(ToolResultBlock)[0].state == "denied"


async def test_an_edit_at_the_safe_point_binds_the_very_next_gate() -> None:
    journal = CountingJournal()
    agent = harness(journal).permission_context(BYPASS).build()
    scene = host(agent, journal)
    seen = 0

    async def forbid(writer: JournalWriter) -> None:
        nonlocal seen
        seen += 1
        if seen == 2:
            rule = PermissionRule("calculator", None, Behavior.DENY, "operator")
            state = writer.state.copy()
            state.permission_context = state.permission_context.with_rule(rule)
            writer.state = state

    scene.at_safe_point = forbid
    await scene.run(await scene.submit('/tool calculator {"expression": "1"}'))
    block = (await scene.messages())[2].blocks(ToolResultBlock)[0]
    assert block.text == "Permission denied by rule calculator (deny, source operator)"


async def lost_run(scene: Host, admission: Admission, orders: Orders) -> Admission:
    """Run until the order is recorded, then lose the worker without any further commit."""
    orders.hangs = True
    control = InterruptControl()
    execution, lease = await scene.prepare(admission, control)
    task = asyncio.create_task(execution.run())
    await orders.reached.wait()
    control.trigger(InterruptSource.FENCED)
    with pytest.raises(Fenced):
        await task
    await scene.journal.release(execution.log.writer.ref, lease)
    orders.hangs = False
    return replace(admission, kind="takeover", attempt=2, lost_run=execution.run_id)


async def test_a_takeover_never_repeats_an_outside_effect_but_waits_for_a_person() -> None:
    journal, orders = CountingJournal(), Orders()
    agent = harness(journal).permission_context(BYPASS).build()
    scene = host(agent, journal, orders)
    admission = await scene.submit('/tool create_order {"sku": "tea"}')
    takeover = await lost_run(scene, admission, orders)
    result = await scene.run(takeover)
    assert result.wait is not None
    assert result.wait["kind"] == "reconcile"
    assert orders.orders == ["tea"]
    facts = await scene.facts()
    lost = next(f for f in facts if f.type == "run/end")
    assert (lost.payload["status"], lost.run_id) == ("lost", takeover.lost_run)

    writer, lease = await scene.claim()
    with pytest.raises(InvalidInput, match="has no outcome for"):
        await reconcile_outcomes(writer, {}, "because", name="Assistant")
    (call_id,) = result.wait["ids"]
    await reconcile_outcomes(writer, {call_id: "order 1"}, "asked the shop", name="Assistant")
    await journal.release(writer.ref, lease)
    done = await scene.run(replace(admission, kind="resume", attempt=3))
    assert done.outcome == "done"
    assert orders.orders == ["tea"]
    assert (await scene.messages())[-1].text == "create_order returned: order 1"


@pytest.mark.parametrize("effect", ["none", "idempotent"])
async def test_a_takeover_runs_calls_again_that_may_be_repeated(effect: str) -> None:
    journal, started = CountingJournal(), asyncio.Event()
    runs = 0

    async def work() -> str:
        nonlocal runs
        runs += 1
        if runs == 1:
            started.set()
            await asyncio.Event().wait()
        return "worked"

    model = ScriptModel(calls(("work", "{}")), says("done"))
    builder = harness(journal, model).tools(tool(effect=effect)(work))
    scene = host(builder.permission_context(BYPASS).build(), journal)
    admission = await scene.submit("go")
    execution, lease = await scene.prepare(admission)
    task = asyncio.create_task(execution.run())
    await started.wait()
    execution.control.trigger(InterruptSource.FENCED)
    with pytest.raises(Fenced):
        await task
    await journal.release(execution.log.writer.ref, lease)
    takeover = replace(admission, kind="takeover", attempt=2, lost_run=execution.run_id)
    assert (await scene.run(takeover)).outcome == "done"
    assert runs == 2
    assert results(await scene.messages()) == [("c1", "success")]


async def test_takeovers_take_the_input_in_once() -> None:
    journal = CountingJournal()
    model = ScriptModel(endless, says("at last"))
    scene = host(harness(journal, model).build(), journal)
    admission = await scene.submit("hello")
    execution, lease = await scene.prepare(replace(admission, kind="takeover", lost_run=new_id()))
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    execution.control.trigger(InterruptSource.FENCED)
    with pytest.raises(Fenced):
        await task
    await journal.release(execution.log.writer.ref, lease)
    takeover = replace(admission, kind="takeover", attempt=3, lost_run=execution.run_id)
    await scene.run(takeover)
    assert [m.text for m in await scene.messages()] == ["hello", "at last"]
    with pytest.raises(TurnFinished):
        await scene.run(takeover)


async def test_a_shutdown_saves_lets_go_and_the_next_run_continues() -> None:
    journal = CountingJournal()
    model = ScriptModel(endless, says("whole answer"))
    scene = host(harness(journal, model).build(), journal)
    admission = await scene.submit("hello")
    control = InterruptControl()
    execution, _ = await scene.prepare(admission, control)
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    control.trigger(InterruptSource.SYSTEM)
    result = await task
    assert (result.status, result.turn_state, result.released) == ("suspended", "running", True)
    state = await scene.agent.get_agent_state(RuntimeContext.builder().session_id("s").build())
    assert state.shutdown_interrupted
    assert [m.text for m in state.context] == ["hello", "partial"]
    done = await scene.run(replace(admission, kind="takeover", attempt=2))
    assert done.outcome == "done"
    assert [m.text for m in await scene.messages()] == ["hello", "partial", "whole answer"]
    state = await scene.agent.get_agent_state(RuntimeContext.builder().session_id("s").build())
    assert not state.shutdown_interrupted


async def test_a_tool_that_stops_with_its_process_runs_again_under_the_next() -> None:
    @tool(effect=Effect.NONE)
    async def patient(context: ToolContext) -> str:
        starts.append(context.call_id)
        stopped = len(starts) == 1 and not await context.sleep(30.0)
        return "[ERROR] stopped early" if stopped else "all done"

    starts: list[str] = []
    journal = CountingJournal()
    model = ScriptModel(calls(("patient", "{}")), says("thanks"))
    scene = host(harness(journal, model).tools(patient).permission_context(BYPASS).build(), journal)
    admission = await scene.submit("hello")
    control = InterruptControl()
    execution, _ = await scene.prepare(admission, control)
    task = asyncio.create_task(execution.run())
    await until(lambda: starts)
    control.trigger(InterruptSource.SYSTEM)
    assert (await task).status == "suspended"
    done = await scene.run(replace(admission, kind="takeover", attempt=2))
    assert (done.outcome, len(starts), len(set(starts))) == ("done", 2, 1)
    results = [b for m in await scene.messages() for b in m.blocks(ToolResultBlock)]
    assert [b.text for b in results] == ["all done"]


async def test_a_cancelled_turn_ends_cancelled_and_its_run_interrupted() -> None:
    journal = CountingJournal()
    model = ScriptModel(endless)
    scene = host(harness(journal, model).build(), journal)
    control = InterruptControl()
    execution, _ = await scene.prepare(await scene.submit("hello"), control)
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    control.trigger(kind=InterruptKind.CANCEL, by={"name": "op"}, reason="wrong one")
    result = await task
    assert (result.turn_state, result.status) == ("cancelled", RunStatus.INTERRUPTED)
    assert last(await scene.facts(), "turn/cancelled").payload == {
        "by": {"name": "op"},
        "reason": "wrong one",
    }
    assert RECOVERY not in [m.text for m in await scene.messages()]


async def test_a_cancel_records_an_unknown_outcome_as_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patience = "agentadmin.engine.agents.running.PATIENCE"
    monkeypatch.setattr(patience, {"none": 0.0, "idempotent": 0.0, "external": 0.02})
    journal, orders = CountingJournal(), Orders()
    orders.hangs = True
    scene = host(harness(journal).permission_context(BYPASS).build(), journal, orders)
    control = InterruptControl()
    execution, _ = await scene.prepare(
        await scene.submit('/tool create_order {"sku": "tea"}'), control
    )
    task = asyncio.create_task(execution.run())
    await orders.reached.wait()
    control.trigger(kind=InterruptKind.CANCEL)
    assert (await task).turn_state == "cancelled"
    block = (await scene.messages())[2].blocks(ToolResultBlock)[0]
    assert (block.state, block.metadata) == ("interrupted", {"agentadmin.outcome": "unknown"})


async def test_a_pause_is_taken_at_the_next_boundary_and_resumed_from_there() -> None:
    journal = CountingJournal()
    scene = host(harness(journal).permission_context(BYPASS).build(), journal)
    admission = await scene.submit('/tool calculator {"expression": "1"}')
    control = InterruptControl()
    control.trigger(kind=InterruptKind.PAUSE)
    result = await scene.run(admission, control)
    assert (result.turn_state, result.status) == ("paused", "suspended")
    done = await scene.run(replace(admission, kind="resume", attempt=2))
    assert done.outcome == "done"
    assert (await scene.messages())[-1].text == "calculator returned: 1"


async def test_an_interrupt_message_stands_once_after_the_recovery_reply() -> None:
    journal = CountingJournal()
    model = ScriptModel(endless, says("x"))
    scene = host(harness(journal, model).build(), journal)
    control = InterruptControl()
    execution, _ = await scene.prepare(await scene.submit("hello"), control)
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    said = user_message("do this instead")
    control.trigger(message=said)
    control.trigger(message=said)
    await task
    assert [m.text for m in await scene.messages()] == [
        "hello",
        "partial",
        RECOVERY,
        "do this instead",
    ]


async def test_a_fenced_run_writes_nothing_more() -> None:
    journal = CountingJournal()
    model = ScriptModel(endless)
    scene = host(harness(journal, model).build(), journal)
    execution, lease = await scene.prepare(await scene.submit("hello"))
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    await journal.release(execution.log.writer.ref, lease)
    await scene.claim()
    before = len(journal.batches)
    execution.control.trigger()
    with pytest.raises(Fenced):
        await task
    assert len(journal.batches) == before


async def test_unattended_threads_never_wait() -> None:
    journal = CountingJournal()
    unattended = PermissionContext(mode=PermissionMode.DONT_ASK)
    scene = host(harness(journal).permission_context(unattended).build(), journal)
    result = await scene.run(await scene.submit('/tool create_order {"sku": "x"}'))
    assert result.outcome == "done"
