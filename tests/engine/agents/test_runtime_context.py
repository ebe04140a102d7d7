"""RuntimeContext: identity, attributes by name and by type, and what a call sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.errors import InvalidInput
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import BYPASS, ScriptModel, calls, context, harness, says

if TYPE_CHECKING:
    from agentadmin.engine.tools.context import ToolContext


class Tenant:
    """A base type."""


class Gold(Tenant):
    """A more special one."""


class Platinum(Gold):
    """The most special one."""


def test_attributes_are_found_by_name_and_by_the_most_specific_type() -> None:
    gold, platinum = Gold(), Platinum()
    ctx = RuntimeContext.builder().put("k", 1).put(Gold, gold).put(Platinum, platinum).build()
    assert ctx.get("k") == 1
    assert ctx.get(Gold) is gold
    assert ctx.get(Tenant) is platinum
    assert ctx.get(RuntimeContext) is ctx
    assert ctx.get(int) is None
    ctx.put("k", None)
    assert ctx.get_extra() == {}
    ctx.get_extra()["live"] = True
    assert ctx.get("live") is True


def test_a_builder_from_a_context_copies_everything_and_shares_nothing() -> None:
    source = RuntimeContext.builder().session_id("s").run_id("r").put("k", 1).build()
    copy = RuntimeContext.builder(source).run_id(None).put("k", 2).build()
    assert (copy.session_id, copy.run_id, copy.get("k")) == ("s", None, 2)
    assert (source.run_id, source.get("k")) == ("r", 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("run_id", " "), ("user_id", ""), ("thread_id", "\t"), ("session_id", "x" * 257)],
)
def test_bad_ids_are_refused_by_their_field(field: str, value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        getattr(RuntimeContext.builder(), field)(value)
    assert caught.value.path == field


async def test_tools_see_an_invocation_context_with_run_state_and_attributes() -> None:
    seen: list[RuntimeContext] = []

    @tool(effect="none")
    async def look(context: ToolContext) -> str:
        seen.append(context.runtime)
        return "looked"

    model = ScriptModel(calls(("look", "{}")), says("ok"))
    builder = harness(InMemoryThreadJournal(), model).tools(look).permission_context(BYPASS)
    async with builder.build() as agent:
        request = context()
        request.put("tenant", "t7")
        run = agent.prepare_call("hi", request)
        await run.result()
        (ctx,) = seen
        assert (ctx.run_id, ctx.session_id, ctx.get("tenant")) == (run.run_id, "s", "t7")
        assert ctx.agent_state is not None
        assert ctx.agent_state.context[0].text == "hi"
        assert await RuntimeContext.resolve_agent_state(ctx, agent) is ctx.agent_state
        fallback = await RuntimeContext.resolve_agent_state(None, agent)
        assert fallback.session_id == "Assistant"
