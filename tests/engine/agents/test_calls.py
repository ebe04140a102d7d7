"""Direct calls of a HarnessAgent: what they answer, and what they leave in the journal."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.errors import Conflict, InvalidInput, ModelError, RunIdReused
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import Role, ToolResultBlock
from agentadmin.engine.models.base import TextChunk, ThinkingChunk
from tests.engine.agents.scene import (
    BYPASS,
    CountingJournal,
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    last,
    says,
    types_of,
)


async def test_a_one_reply_call_is_two_commits_with_these_facts() -> None:
    journal = CountingJournal()
    async with harness(journal).build() as agent:
        await agent.call("first", context())
        journal.batches.clear()
        reply = await agent.call("hello", context())
    assert reply.text == "You said: hello"
    assert journal.batches == [
        ["turn/start", "run/start", "message/user", "request/prepared"],
        ["message/assistant", "turn/completed", "run/end"],
    ]


async def test_a_tool_call_is_committed_before_it_runs_and_its_result_after() -> None:
    journal = CountingJournal()
    async with harness(journal).permission_context(BYPASS).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "6*7"}', context())
    assert reply.text == "calculator returned: 42"
    assert journal.batches[1:] == [
        ["message/assistant", "tool/decision", "tool/dispatch"],
        ["tool/result", "request/prepared"],
        ["message/assistant", "turn/completed", "run/end"],
    ]


async def test_parallel_calls_go_out_in_one_commit_and_come_back_in_call_order() -> None:
    journal = CountingJournal()
    wanted = '[{"name":"sleep","input":{"seconds":0.05}},{"name":"current_time"}]'
    async with harness(journal).permission_context(BYPASS).build() as agent:
        reply = await agent.call(f"/tools {wanted}", context())
        state = await agent.get_agent_state(context())
    assert journal.batches[1].count("tool/dispatch") == 2
    results = [b.name for m in state.context for b in m.blocks(ToolResultBlock)]
    assert results == ["sleep", "current_time"]
    assert reply.text.startswith("sleep returned: slept 0.05 s\ncurrent_time returned: ")


async def test_another_instance_on_the_same_journal_continues_the_conversation() -> None:
    journal = InMemoryThreadJournal()
    for _ in range(2):
        async with harness(journal).build() as agent:
            await agent.call("remember me", context())
    async with harness(journal).build() as agent:
        assert (await agent.call("/count", context())).text == "5 messages"
        assert (await agent.call("/recall", context())).text == "remember me"


async def test_one_instance_serves_sessions_that_do_not_see_each_other() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        await agent.call("a", context("a"))
        assert (await agent.call("/count", context("b"))).text == "1 messages"
        assert (await agent.call("/count", context("a", thread_id="other"))).text == "1 messages"
        assert (await agent.call("/count", context("a", user_id="ann"))).text == "1 messages"
        assert (await agent.call("/count", context("a"))).text == "3 messages"


async def test_a_blank_session_means_the_default_one() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).default_session_id("home").build() as agent:
        await agent.call("hi")
        await agent.call("hi", context("   "))
        assert (await agent.call("/count", context("home"))).text == "5 messages"


@pytest.mark.parametrize("odd", [b"bytes", object(), {1}])
async def test_an_answer_that_cannot_be_stored_is_the_models_error(odd: Any) -> None:
    journal = InMemoryThreadJournal()
    model = ScriptModel([ThinkingChunk("hm", {"signature": odd}), TextChunk("x")], says("better"))
    agent = harness(journal, model).build()
    with pytest.raises(ModelError, match="cannot be stored"):
        await agent.call("hello", context())
    assert (await agent.call("again", context())).text == "better"


async def test_a_failed_call_keeps_the_input_and_raises_the_models_error() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        with pytest.raises(ModelError, match="told to fail"):
            await agent.call("/fail permanent", context())
        facts = await facts_of(journal, agent)
        state = await agent.get_agent_state(context())
        assert [m.text for m in state.context] == ["/fail permanent"]
        assert last(facts, "turn/failed").payload["error"]["code"] == "model_error"
        assert last(facts, "run/end").payload["status"] == "failed"
        assert (await agent.call("/count", context())).text == "2 messages"


async def test_a_transient_failure_is_tried_again() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        assert (await agent.call("/fail transient 2", context())).text == "ok after 2 retries"


async def test_an_empty_answer_is_reminded_and_the_reminder_never_stored() -> None:
    model = ScriptModel([], says("   "), says("at last"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        assert (await agent.call("hi", context())).text == "at last"
        state = await agent.get_agent_state(context())
    kinds = [m.metadata.get("agentscope_reminder_kind") for m in model.requests[1].messages]
    assert kinds[-1] == "empty_response"
    assert not any(message.synthetic for message in state.context)


async def test_empty_answers_end_at_the_limit_of_rounds() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).max_iters(3).build() as agent:
        reply = await agent.call("/empty", context())
        facts = await facts_of(journal, agent)
    assert reply.text == "Summary of 1 messages."
    assert str(reply.finish_reason) == "MAX_ITERATIONS"
    assert types_of(facts).count("request/prepared") == 4
    assert last(facts, "turn/completed").payload["outcome"] == "max_iterations"


async def test_calls_with_broken_arguments_or_unknown_names_get_error_results() -> None:
    model = ScriptModel(
        calls(("calculator", '{"expression": "1'), ("nobody", "{}"), ("sleep", "{}")), says("ok")
    )
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        await agent.call("go", context())
        state = await agent.get_agent_state(context())
    texts = [b.text for m in state.context for b in m.blocks(ToolResultBlock)]
    assert texts[0].startswith("Error: Parameter validation failed for tool 'calculator'")
    assert texts[1] == "Error: Tool not found: nobody"
    assert "'seconds' is a required property" in texts[2]


async def test_a_reused_run_id_is_refused_by_the_journal() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        ctx = context(run_id="invocation-1")
        await agent.call("hi", ctx)
        with pytest.raises(RunIdReused):
            await agent.call("hi again", ctx)


async def test_nothing_to_say_and_nothing_to_go_on_with_is_refused() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        with pytest.raises(InvalidInput, match="messages"):
            await agent.call(None, context())


async def test_a_closed_agent_refuses_calls_and_closes_only_its_own_model() -> None:
    model = ScriptModel(says("hi"))
    async with harness(InMemoryThreadJournal(), model).build() as agent:
        await agent.call("hi", context())
    with pytest.raises(Conflict):
        await agent.call("again", context())
    assert not model.closed


async def test_clearing_keeps_permissions_and_the_full_history() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).permission_context(BYPASS).build() as agent:
        await agent.call("one", context())
        before = len(await facts_of(journal, agent))
        await agent.clear_context(context())
        state = await agent.get_agent_state(context())
        assert (state.context, state.summary) == ((), "")
        assert state.permission_context == BYPASS
        assert len(await facts_of(journal, agent)) == before + 1
        assert (await agent.call("/count", context())).text == "1 messages"


async def test_clearing_an_unknown_thread_creates_nothing() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        await agent.clear_context(context("never"))
        assert await journal.find(agent.thread_key(context("never"))) is None


async def test_a_summary_goes_in_front_of_the_request_and_not_into_the_context() -> None:
    model = ScriptModel(says("hi"))
    async with harness(InMemoryThreadJournal(), model).sys_prompt("Be kind.").build() as agent:
        await agent.update_agent_state(context(), "test", lambda s: s.set_summary("we met"))
        await agent.call("hello", context())
        state = await agent.get_agent_state(context())
    roles = [message.role for message in model.requests[0].messages]
    assert roles == [Role.SYSTEM, Role.USER, Role.USER]
    assert "we met" in model.requests[0].messages[1].text
    assert [m.text for m in state.context] == ["hello", "hi"]
