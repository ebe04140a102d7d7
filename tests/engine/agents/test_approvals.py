"""Permission questions of direct calls: what pauses, what an answer does, what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.direct import confirm_message
from agentadmin.engine.errors import InteractionPending, InvalidInput
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import Msg, ToolResultBlock, ToolUseBlock
from agentadmin.engine.state import codec
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from tests.engine.agents.scene import (
    CountingJournal,
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    last,
    plain,
    says,
    types_of,
)

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState


def rule(tool: str, behavior: Behavior, content: str | None = None) -> PermissionRule:
    return PermissionRule(tool, content, behavior, "session")


def results(state: AgentState) -> list[tuple[str, str, str]]:
    return [(b.id, b.state, b.text) for m in state.context for b in m.blocks(ToolResultBlock)]


def answer(reply: Msg, *confirmed: bool, **more: Any) -> Msg:
    """A confirmation of the reply's asking calls that went through JSON, as a browser's would."""
    asking = [b.raw for b in reply.blocks(ToolUseBlock) if b.state == "asking"]
    entries = [
        {"confirmed": yes, "toolCall": call, "rules": None, **more}
        for yes, call in zip(confirmed, asking, strict=False)
    ]
    return Msg(codec.loads(codec.dumps(confirm_message(entries).raw)))


async def test_an_asking_call_pauses_and_a_confirmation_on_another_instance_runs_it() -> None:
    journal = CountingJournal()
    async with harness(journal).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "6*7"}', context())
    assert [b.state for b in reply.blocks(ToolUseBlock)] == ["asking"]
    assert str(reply.finish_reason) == "PERMISSION_ASKING"
    async with harness(journal).build() as agent:
        final = await agent.call(answer(reply, True), context())
        facts = await facts_of(journal, agent)
    assert final.text == "calculator returned: 42"
    one_each = ("turn/start", "turn/suspended", "turn/resumed", "turn/completed")
    assert [types_of(facts).count(type_) for type_ in one_each] == [1, 1, 1, 1]
    assert len({f.turn_id for f in facts if f.turn_id}) == 1
    assert len({f.run_id for f in facts if f.type == "run/start"}) == 2
    assert "tool/dispatch" in journal.batches[2]


async def test_one_question_holds_back_every_call_of_its_step() -> None:
    permissions = (
        PermissionContext()
        .with_rule(rule("calculator", Behavior.ALLOW))
        .with_rule(rule("current_time", Behavior.DENY))
    )
    journal = InMemoryThreadJournal()
    model = ScriptModel(
        calls(
            ("calculator", '{"expression": "1+1"}'),
            ("current_time", "{}"),
            ("sleep", '{"seconds": 0}'),
        )
    )
    async with harness(journal, model).permission_context(permissions).build() as agent:
        reply = await agent.call("go", context())
        state = await agent.get_agent_state(context())
        facts = await facts_of(journal, agent)
    assert [b.state for b in reply.blocks(ToolUseBlock)] == ["allowed", "pending", "asking"]
    denied = "Permission denied by rule current_time (deny, source session)"
    assert results(state) == [("c2", "denied", denied)]
    assert "tool/dispatch" not in types_of(facts)
    assert len([f for f in facts if f.type == "tool/decision"]) == 3
    wait = last(facts, "turn/suspended").payload["wait"]
    assert wait["kind"] == "approval"
    assert wait["ids"] == [last(facts, "interaction/requested").payload["interaction_id"]]


async def test_a_denial_is_a_result_with_its_reason_and_the_loop_goes_on() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        reply = await agent.call('/tool create_order {"sku": "x"}', context())
        final = await agent.call(answer(reply, False, reason="too dear"), context())
        state = await agent.get_agent_state(context())
    assert results(state)[0][1:] == ("denied", "Permission denied by user: too dear")
    assert final.text == "create_order returned: Permission denied by user: too dear"


async def test_edited_arguments_are_what_runs() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())
        call = reply.blocks(ToolUseBlock)[0].replace(input={"expression": "2+2"})
        edited = confirm_message([{"confirmed": True, "toolCall": call.raw}])
        assert (await agent.call(edited, context())).text == "calculator returned: 4"


async def test_a_deny_rule_beats_a_confirmation_of_edited_arguments() -> None:
    forbidden = PermissionContext().with_rule(rule("write_file", Behavior.DENY, "secret*"))
    async with harness(InMemoryThreadJournal()).permission_context(forbidden).build() as agent:
        reply = await agent.call('/tool write_file {"path": "a", "text": "x"}', context())
        call = reply.blocks(ToolUseBlock)[0].replace(input={"path": "secret.txt", "text": "x"})
        await agent.call(confirm_message([{"confirmed": True, "toolCall": call.raw}]), context())
        state = await agent.get_agent_state(context())
    assert results(state)[0][1] == "denied"
    assert "Permission denied by rule write_file secret*" in results(state)[0][2]


async def test_an_edit_while_waiting_binds_the_confirmed_call() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())

        def forbid(state: AgentState) -> None:
            denied = rule("calculator", Behavior.DENY)
            state.permission_context = state.permission_context.with_rule(denied)

        await agent.update_agent_state(context(), "not any more", forbid)
        await agent.call(answer(reply, True), context())
        state = await agent.get_agent_state(context())
    assert results(state)[0][1] == "denied"


async def test_accepted_rules_are_persisted_once_and_the_next_call_does_not_ask() -> None:
    accepted = rule("calculator", Behavior.ALLOW).to_dict()
    async with harness(InMemoryThreadJournal()).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())
        await agent.call(answer(reply, True, rules=[accepted, accepted]), context())
        state = await agent.get_agent_state(context())
        assert len(state.permission_context.allow_rules["calculator"]) == 1
        again = await agent.call('/tool calculator {"expression": "2"}', context())
    assert again.text == "calculator returned: 2"


async def test_a_partial_confirmation_leaves_the_other_call_asking_under_the_same_id() -> None:
    journal = InMemoryThreadJournal()
    wanted = ("calculator", '{"expression": "1"}'), ("sleep", '{"seconds": 0}')
    model = ScriptModel(calls(*wanted), says("done"))
    async with harness(journal, model).build() as agent:
        reply = await agent.call("go", context())
        second = await agent.call(answer(reply, True), context())
        assert [b.state for b in second.blocks(ToolUseBlock)] == ["allowed", "asking"]
        facts = await facts_of(journal, agent)
        assert types_of(facts).count("interaction/requested") == 2
        assert (await agent.call(answer(second, True), context())).text == "done"
        state = await agent.get_agent_state(context())
    assert [(i, s) for i, s, _ in results(state)] == [("c1", "success"), ("c2", "success")]


async def test_a_plain_message_while_asking_is_refused_with_the_ids() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        await agent.call('/tool calculator {"expression": "1"}', context())
        asked = last(await facts_of(journal, agent), "interaction/requested")
        with pytest.raises(InteractionPending) as caught:
            await agent.call("hello?", context())
        assert caught.value.ids == [asked.payload["interaction_id"]]


async def test_a_plain_message_may_withdraw_the_question_instead() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        await agent.call('/tool calculator {"expression": "1"}', context())
        reply = await agent.call("hello?", context(), on_pending="cancel")
        facts = await facts_of(journal, agent)
        state = await agent.get_agent_state(context())
    assert reply.text == "You said: hello?"
    assert [s for _, s, _ in results(state)] == ["interrupted"]
    assert last(facts, "interaction/resolved").payload["decision"] == "cancelled"
    assert types_of(facts).count("turn/cancelled") == 1


async def test_an_answer_for_a_call_that_does_not_ask_is_refused_by_its_path() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        await agent.call('/tool calculator {"expression": "1"}', context())
        strange = confirm_message([{"confirmed": True, "toolCall": {"id": "nope"}}])
        with pytest.raises(InvalidInput, match=r"toolCall\.id"):
            await agent.call(strange, context())


async def test_nobody_is_asked_in_dont_ask_mode() -> None:
    unattended = PermissionContext(mode=PermissionMode.DONT_ASK)
    async with harness(InMemoryThreadJournal()).permission_context(unattended).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())
    assert reply.text.startswith("calculator returned: Permission denied by dont_ask")


async def test_a_question_to_the_user_waits_and_takes_the_answer_as_its_result() -> None:
    journal = InMemoryThreadJournal()
    async with harness(journal).build() as agent:
        reply = await agent.call('/tool ask_user {"question": "why?"}', context())
        asked = last(await facts_of(journal, agent), "interaction/requested").payload
        assert (asked["kind"], asked["message"]) == ("question", "why?")
        assert str(reply.finish_reason) == "TOOL_SUSPENDED"
        call = reply.blocks(ToolUseBlock)[0]
        result = ToolResultBlock.make(id=call.id, name=call.name, output="because")
        given = Msg({"role": "TOOL", "content": [result.raw]})
        assert (await agent.call(given, context())).text == "ask_user returned: because"
        assert types_of(await facts_of(journal, agent)).count("turn/resumed") == 1


async def test_the_plain_agent_asks_and_resumes_from_its_store_too() -> None:
    async with plain().build() as agent:
        reply = await agent.call('/tool calculator {"expression": "6*7"}', context())
        with pytest.raises(InteractionPending):
            await agent.call("hello?", context())
        assert (await agent.call(answer(reply, True), context())).text == "calculator returned: 42"


async def test_nothing_but_an_answer_goes_on_with_a_question() -> None:
    async with harness(InMemoryThreadJournal()).build() as agent:
        reply = await agent.call('/tool calculator {"expression": "1"}', context())
        with pytest.raises(InteractionPending):
            await agent.call(None, context())
        twice = [answer(reply, True), answer(reply, True)]
        with pytest.raises(InvalidInput, match="twice"):
            await agent.call(twice, context())
        strange = ToolResultBlock.make(id="nope", name="x", output="y")
        with pytest.raises(InvalidInput, match="nope is no pending call"):
            await agent.call(Msg({"role": "TOOL", "content": [strange.raw]}), context())

        def drop(state: AgentState) -> None:
            state.set_context(())

        with pytest.raises(InteractionPending):
            await agent.update_agent_state(context(), "drop it", drop)


async def test_two_questions_of_one_turn_are_withdrawn_together() -> None:
    journal = InMemoryThreadJournal()
    wanted = '[{"name":"calculator","input":{"expression":"1"}},{"name":"current_time"}]'
    async with harness(journal).build() as agent:
        await agent.call(f"/tools {wanted}", context())
        await agent.call("never mind", context(), on_pending="cancel")
        facts = await facts_of(journal, agent)
    assert types_of(facts).count("interaction/resolved") == 2
    assert types_of(facts).count("turn/cancelled") == 1
