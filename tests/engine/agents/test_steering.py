"""What a turn is told while it is under way, and how it is held: facts in order, nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.calls import PARTIAL
from agentadmin.engine.agents.interrupt import InterruptControl, InterruptKind, InterruptSource
from agentadmin.engine.errors import InputPending
from agentadmin.engine.journal.base import Batch, CommitKind
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.journal.loading import adopt, load, refresh
from agentadmin.engine.messages import ToolResultBlock, user_message
from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule
from tests.engine.agents.scene import (
    BYPASS,
    CountingJournal,
    Host,
    ScriptModel,
    calls,
    context,
    harness,
    last,
    says,
    types_of,
    until,
)
from tests.engine.agents.test_interrupts import endless

if TYPE_CHECKING:
    from agentadmin.engine.agents.admission import Admission
    from agentadmin.engine.journal.base import ThreadRef
    from agentadmin.engine.journal.writer import JournalWriter


class Strict(CountingJournal):
    """Refuses the end of a turn that has not read everything, as the rows of the product do."""

    async def commit(self, ref: ThreadRef, batch: Batch, rows: Any = ()) -> Any:
        if FactType.TURN_COMPLETED in {fact.type for fact in batch.facts}:
            types = {FactType.INPUT_RECEIVED, FactType.INPUT_APPLIED}
            facts = [*(await self.facts(ref, types=types)), *batch.facts]
            told = [f.seq for f in facts if f.type == FactType.INPUT_RECEIVED]  # type: ignore[union-attr]
            read = [f.payload["seq"] for f in facts if f.type == FactType.INPUT_APPLIED]
            if left := sorted(set(told) - set(read)):
                raise InputPending(left)
        return await super().commit(ref, batch, rows)


async def tell(scene: Host, admission: Admission, text: str) -> None:
    """Accept a text as the service does: a queue commit, no lease needed."""
    payload = {"input": [user_message(text).raw], "by": {"name": "ann"}, "control_id": None}
    ref = await scene.journal.ensure(scene.agent.thread_key(context(scene.session_id)))
    fact = NewFact(FactType.INPUT_RECEIVED, payload, admission.turn_id)
    await scene.journal.commit(ref, Batch(CommitKind.QUEUE, [fact.seal()]))


async def texts(scene: Host) -> list[str]:
    return [message.text for message in await scene.messages()]


async def test_a_text_waits_for_the_results_of_open_calls() -> None:
    journal = Strict()
    model = ScriptModel(calls(("calculator", '{"expression": "1"}')), says("done"))
    scene = Host(journal, harness(journal, model).permission_context(BYPASS).build())
    admission = await scene.submit("go")
    told = False

    async def once(writer: JournalWriter) -> None:
        nonlocal told
        if not told and len(writer.state.context) == 2:
            told = True
            await tell(scene, admission, "and this")
            await refresh(writer.store, writer.projection)

    scene.at_safe_point = once
    result = await scene.run(admission)
    assert result.outcome == "done"
    assert await texts(scene) == ["go", "", "", "and this", "done"]
    facts = await scene.facts()
    said = [f for f in facts if f.type == FactType.MESSAGE_USER][-1]
    received, applied = last(facts, "input/received"), last(facts, "input/applied")
    assert said.payload["input"] == {"seq": received.seq, "index": 0}
    assert applied.payload["seq"] == received.seq < said.seq < applied.seq


async def test_an_answer_is_not_the_last_one_while_something_is_unread() -> None:
    journal = Strict()

    async def answer(request: object) -> Any:
        await tell(scene, admission, "wait, this too")
        for chunk in says("first"):
            yield chunk

    model = ScriptModel(answer, says("second"))
    scene = Host(journal, harness(journal, model).build())
    admission = await scene.submit("go")
    result = await scene.run(admission)
    assert (result.outcome, result.reply and result.reply.text) == ("done", "second")
    assert await texts(scene) == ["go", "first", "wait, this too", "second"]
    assert types_of(await scene.facts()).count("turn/completed") == 1
    assert types_of(await scene.facts()).count("run/end") == 1


async def test_what_a_queued_turn_was_told_is_read_as_it_begins() -> None:
    journal = Strict()
    scene = Host(journal, harness(journal, ScriptModel(says("ok"))).build())
    admission = await scene.submit("go")
    await tell(scene, admission, "gently")
    await scene.run(admission)
    assert await texts(scene) == ["go", "gently", "ok"]


async def test_a_text_is_read_once_whatever_run_takes_it() -> None:
    journal = Strict()
    model = ScriptModel(endless, says("ok"))
    scene = Host(journal, harness(journal, model).build())
    admission = await scene.submit("go")
    await tell(scene, admission, "gently")
    control = InterruptControl()
    execution, lease = await scene.prepare(admission, control)
    task = asyncio.create_task(execution.run())
    await until(lambda: model.requests)
    control.trigger(InterruptSource.SYSTEM)
    assert (await task).turn_state == "running"
    await journal.release(execution.log.writer.ref, lease)  # type: ignore[union-attr]
    await scene.run(replace(admission, kind="takeover", attempt=2))
    assert (await texts(scene)).count("gently") == 1
    assert types_of(await scene.facts()).count("input/applied") == 1


async def test_inputs_before_a_replaced_context_are_found_again() -> None:
    journal = Strict()
    scene = Host(journal, harness(journal).build())
    await scene.run(await scene.submit("hello"))
    admission = await scene.submit("queued")
    await tell(scene, admission, "told")
    await scene.agent.update_agent_state(
        context(), "tidy", lambda state: state.context_mutable().clear()
    )
    ref = await journal.ensure(scene.agent.thread_key(context()))
    projection = await load(journal, ref)
    start = admission.start_seq or 0
    assert start not in projection.inputs
    await adopt(journal, projection, [start, start + 1])
    assert (list(projection.inputs), projection.unread) == ([start], {start + 1})


async def test_a_pause_stops_nothing_that_is_stopping_already() -> None:
    control = InterruptControl()
    control.trigger(kind=InterruptKind.CANCEL, reason="enough")
    control.trigger(kind=InterruptKind.PAUSE)
    assert control.signal is not None
    assert control.signal.kind is InterruptKind.CANCEL


async def test_a_pause_takes_what_it_was_told_along() -> None:
    journal = Strict()
    model = ScriptModel(calls(("calculator", '{"expression": "1"}')), says("done"))
    scene = Host(journal, harness(journal, model).permission_context(BYPASS).build())
    admission = await scene.submit("go")
    control = InterruptControl()

    async def pause(writer: JournalWriter) -> None:
        if len(writer.state.context) == 3:
            control.trigger(kind=InterruptKind.PAUSE, by={"name": "ann"}, reason="later")

    scene.at_safe_point = pause
    paused = await scene.run(admission, control)
    assert (paused.status, paused.turn_state) == ("suspended", "paused")
    assert last(await scene.facts(), "turn/paused").payload["by"] == {"name": "ann"}
    assert len(model.requests) == 1
    await tell(scene, admission, "go on")
    done = await scene.run(replace(admission, kind="resume", attempt=2))
    assert done.outcome == "done"
    assert (await texts(scene))[-2:] == ["go on", "done"]


@pytest.mark.parametrize(
    ("source", "word"), [(InterruptSource.USER, "interrupt"), (InterruptSource.SYSTEM, "shutdown")]
)
async def test_a_half_answer_says_what_cut_it_off(source: InterruptSource, word: str) -> None:
    journal = Strict()
    scene = Host(journal, harness(journal, ScriptModel(endless)).build())
    control = InterruptControl()
    execution, _ = await scene.prepare(await scene.submit("go"), control)
    task = asyncio.create_task(execution.run())
    await until(lambda: any("text" in str(event.type).lower() for event in scene.events))
    control.trigger(source)
    await task
    half = next(m for m in await scene.messages() if PARTIAL in m.metadata)
    assert half.metadata[PARTIAL] == word


async def test_a_denial_is_decided_before_it_is_answered() -> None:
    journal = Strict()
    rule = PermissionRule("calculator", None, Behavior.DENY, "operator")
    model = ScriptModel(calls(("calculator", '{"expression": "1"}')), says("pity"))
    agent = harness(journal, model).permission_context(PermissionContext().with_rule(rule)).build()
    scene = Host(journal, agent)
    await scene.run(await scene.submit("go"))
    facts = [f for f in await scene.facts() if f.type in {"message/assistant", "tool/result"}]
    facts.insert(1, last(await scene.facts(), "tool/decision"))
    assert [f.seq for f in facts] == sorted(f.seq for f in facts)


async def test_what_nobody_answered_in_time_is_denied() -> None:
    journal = Strict()
    agent = harness(journal).answer_within(60).build()
    scene = Host(journal, agent)
    admission = await scene.submit('/tool create_order {"sku": "tea"}')
    await scene.run(admission)
    asked = last(await scene.facts(), "interaction/requested").payload
    assert asked["expires_at"] is not None
    await scene.resolve(interaction_id=asked["interaction_id"], decision="expired")
    await scene.run(replace(admission, kind="resume", attempt=2))
    result = (await scene.messages())[2].blocks(ToolResultBlock)[0]
    assert (result.state, "nobody answered in time" in result.text) == ("denied", True)
