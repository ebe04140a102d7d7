"""Snapshot mode: ReActAgent on a state store, conflicts, failures, and stale saves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.interrupt import InterruptSource
from agentadmin.engine.agents.middleware import Middleware
from agentadmin.engine.errors import (
    InvalidInput,
    ModelError,
    ShuttingDown,
    StaleVersion,
    StateUnreadable,
)
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.permissions import PermissionMode
from agentadmin.engine.stores.base import ConflictPolicy
from agentadmin.engine.stores.memory import InMemoryAgentStateStore
from tests.engine.agents.scene import ScriptModel, context, harness, plain, says, until
from tests.engine.agents.test_endings import running
from tests.engine.agents.test_interrupts import endless

if TYPE_CHECKING:
    from agentadmin.engine.runtime_context import RuntimeContext


def texts(state: AgentState) -> list[str]:
    return [message.text for message in state.context]


async def test_a_new_instance_without_a_store_has_no_history() -> None:
    async with plain().build() as agent:
        await agent.call("hi", context())
        assert (await agent.call("/count", context())).text == "3 messages"
    async with plain().build() as agent:
        assert (await agent.call("/count", context())).text == "1 messages"


async def test_a_shared_store_continues_on_another_instance() -> None:
    store = InMemoryAgentStateStore()
    for expected in ("1 messages", "3 messages"):
        async with plain().state_store(store).build() as agent:
            assert (await agent.call("/count", context())).text == expected


async def test_agents_and_threads_have_entries_of_their_own_in_one_session() -> None:
    store = InMemoryAgentStateStore()
    async with plain().state_store(store).build() as one:
        await one.call("hi", context())
        assert (await one.call("/count", context(thread_id="research"))).text == "1 messages"
        assert (await one.call("/count", context(namespace="other"))).text == "1 messages"
    async with plain().agent_id("second").state_store(store).build() as two:
        assert (await two.call("/count", context())).text == "1 messages"
    assert await store.list_session_ids(None) == ["s"]


@pytest.mark.parametrize("odd", ["a/b", "..", ".", "a:b", "%00", "é🙂", "a b", "__anon__"])
async def test_odd_ids_are_opaque(odd: str) -> None:
    store = InMemoryAgentStateStore()
    async with plain().state_store(store).build() as agent:
        await agent.call("hi", context(odd, user_id=odd))
        assert (await agent.call("/count", context(odd, user_id=odd))).text == "3 messages"
        assert (await agent.call("/count", context(odd))).text == "1 messages"
    assert await store.list_session_ids(odd) == [odd]


async def test_a_load_failure_fails_the_call_and_leaves_the_stored_bytes_alone() -> None:
    store = InMemoryAgentStateStore()
    async with plain().state_store(store).build() as agent:
        await agent.call("hi", context())
        entry = agent.thread_key(context()).state_entry("agent_state")
        broken = {"session_id": "s", "context": "not a list"}
        version = await store.save(None, "s", entry, broken)
        with pytest.raises(StateUnreadable):
            await agent.call("hi again", context())
        with pytest.raises(StateUnreadable):
            await agent.clear_context(context())
    kept = await store.get_versioned(None, "s", entry)
    assert (kept.value, kept.version) == (broken, version)


class FailingStore(InMemoryAgentStateStore):
    async def save_if_version(self, *arguments: Any) -> int:
        raise OSError("disk full")


async def test_a_failing_model_is_the_error_and_the_failing_save_its_note() -> None:
    async with plain().state_store(FailingStore()).build() as agent:
        with pytest.raises(ModelError) as caught:
            await agent.call("/fail permanent", context())
    assert "disk full" in "".join(caught.value.__notes__)
    assert isinstance(caught.value.__cause__, OSError)


async def test_a_failed_call_is_saved_with_its_input() -> None:
    store = InMemoryAgentStateStore()
    async with plain().state_store(store).build() as agent:
        with pytest.raises(ModelError):
            await agent.call("/fail permanent", context())
    async with plain().state_store(store).build() as rebuilt:
        assert texts(await rebuilt.get_agent_state(context())) == ["/fail permanent"]


async def conflict(policy: ConflictPolicy) -> tuple[InMemoryAgentStateStore, Any]:
    """A call during which another instance saves the same thread."""
    store = InMemoryAgentStateStore()
    model = ScriptModel(endless)
    async with (
        plain(model).state_store(store).conflict_policy(policy).build() as slow,
        plain().state_store(store).build() as fast,
    ):
        call = asyncio.create_task(slow.call("slow", context()))
        await until(lambda: model.requests)
        await fast.call("fast", context())
        await slow.interrupt(context())
        outcome = (await asyncio.gather(call, return_exceptions=True))[0]
        return store, (outcome, texts(await fast.get_agent_state(context())))


async def test_conflicts_overwrite_fail_or_merge_as_the_policy_says() -> None:
    _, (_, kept) = await conflict(ConflictPolicy.OVERWRITE)
    assert kept[0] == "slow"
    assert "fast" not in kept
    _, (outcome, kept) = await conflict(ConflictPolicy.FAIL)
    assert isinstance(outcome, StaleVersion)
    assert kept[0] == "fast"
    _, (_, kept) = await conflict(ConflictPolicy.APPEND_MERGE)
    assert kept[:3] == ["fast", "You said: fast", "slow"]


@pytest.mark.parametrize("kind", ["plain", "harness"])
async def test_a_stale_snapshot_is_refused_and_a_fresh_one_saved(kind: str) -> None:
    builder = (
        plain().state_store(InMemoryAgentStateStore())
        if kind == "plain"
        else harness(InMemoryThreadJournal())
    )
    async with builder.build() as agent:
        await agent.call("hi", context())
        state = await agent.get_agent_state(context())
        state.context_mutable().append(user_message("by hand"))
        await agent.save_agent_state(context(), state)
        assert texts(await agent.get_agent_state(context()))[-1] == "by hand"
        stale = await agent.get_agent_state(context())
        await agent.call("more", context())
        stale.set_summary("late")
        with pytest.raises(StaleVersion):
            await agent.save_agent_state(context(), stale)
        with pytest.raises(StaleVersion):
            await agent.save_agent_state(context(), AgentState.new("s"))


@pytest.mark.parametrize("kind", ["plain", "harness"])
async def test_an_update_needs_a_reason_and_is_atomic(kind: str) -> None:
    builder = plain() if kind == "plain" else harness(InMemoryThreadJournal())

    def widen(state: AgentState) -> None:
        permissions = state.permission_context
        state.permission_context = permissions.with_mode(PermissionMode.BYPASS)

    async with builder.build() as agent:
        with pytest.raises(InvalidInput):
            await agent.update_agent_state(context(), "  ", widen)
        await agent.update_agent_state(context(), "trusted", widen)
        reply = await agent.call('/tool calculator {"expression": "2"}', context())
        assert reply.text == "calculator returned: 2"


async def test_an_update_may_not_change_the_identity() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        with pytest.raises(InvalidInput, match="identity"):
            await agent.update_agent_state(
                context(), "try", lambda state: state.with_identity("other", None)
            )


async def test_get_gives_a_detached_copy() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        await agent.call("hi", context())
        state = await agent.get_agent_state(context())
        state.set_context(())
        assert len((await agent.get_agent_state(context())).context) == 2


async def test_the_harness_runs_in_snapshot_mode_when_told_to() -> None:
    from agentadmin.engine.agents.harness import HarnessAgent

    store = InMemoryAgentStateStore()
    builder = HarnessAgent.builder().name("a").model(ScriptModel(says("x"))).state_store(store)
    async with builder.journal_enabled(False).build() as agent:
        await agent.call("hi", context())
    assert await store.exists(None, "s")


class Racing(InMemoryAgentStateStore):
    """Somebody else always saves a moment earlier."""

    async def save_if_version(self, *arguments: Any) -> int:
        user_id, session_id, key, value, expected = arguments
        if expected >= 0:
            await super().save_if_version(user_id, session_id, key, {**value, "summary": "x"}, -1)
        return await super().save_if_version(*arguments)


async def test_an_update_that_always_loses_is_stale_and_so_is_a_second_merge_conflict() -> None:
    async with plain().state_store(Racing()).build() as agent:
        with pytest.raises(StaleVersion):
            await agent.update_agent_state(context(), "try", lambda state: None)
    merging = plain().state_store(Racing()).conflict_policy(ConflictPolicy.APPEND_MERGE)
    async with merging.build() as agent:
        with pytest.raises(StaleVersion):
            await agent.call("hi", context())


async def test_a_merge_never_mixes_rewritten_histories() -> None:
    store, model = InMemoryAgentStateStore(), ScriptModel(says("first"), endless)
    merging = plain(model).state_store(store).conflict_policy(ConflictPolicy.APPEND_MERGE)

    class Rewrites(Middleware):
        async def on_reasoning(self, ctx: RuntimeContext, request: Any, proceed: Any) -> Any:
            assert ctx.agent_state is not None
            del ctx.agent_state.context_mutable()[:-1]
            return await proceed(request)

    async with plain().state_store(store).build() as other, merging.build() as first:
        await first.call("one", context())
        async with merging.middleware(Rewrites()).build() as agent:
            task, control = await running(agent, model)
            await until(lambda: len(model.requests) == 2)
            await other.call("meanwhile", context())
            control.trigger()
            with pytest.raises(StaleVersion):
                await task


async def test_a_shutdown_never_overwrites_a_session_that_was_taken_over() -> None:
    store, model = InMemoryAgentStateStore(), ScriptModel(endless)
    async with (
        plain(model).state_store(store).build() as agent,
        plain().state_store(store).build() as other,
    ):
        task, control = await running(agent, model)
        await other.call("mine now", context())
        control.trigger(InterruptSource.SYSTEM)
        with pytest.raises(ShuttingDown):
            await task
        state: AgentState = await other.get_agent_state(context())
    assert [m.text for m in state.context] == ["mine now", "You said: mine now"]
    assert not state.shutdown_interrupted
