"""Plan mode, to-dos and tool groups in whole runs: what is denied, asked, told, and committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentadmin.engine.journal.facts import FactType
from agentadmin.engine.journal.memory import InMemoryThreadJournal
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentadmin.engine.tools.builtin import reset_equipped_tools
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import (
    ScriptModel,
    calls,
    context,
    facts_of,
    harness,
    says,
    types_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from agentadmin.engine.models.base import ModelRequest

BYPASS = PermissionContext(mode=PermissionMode.BYPASS)


def allowing(*names: str) -> PermissionContext:
    permissions = PermissionContext()
    for name in names:
        permissions = permissions.with_rule(PermissionRule(name, None, Behavior.ALLOW, "test"))
    return permissions


def prompt_of(request: ModelRequest) -> str:
    return request.messages[0].text


def plans(folder: Path) -> list[str]:
    """Every plan that was written below a folder."""
    return [file.read_text() for file in folder.rglob("PLAN.md")]


async def test_plan_mode_denies_what_changes_something_and_says_so() -> None:
    journal = InMemoryThreadJournal()
    model = ScriptModel(
        calls(("plan_enter", "{}")),
        calls(("write_file", '{"path": "a", "text": "b"}'), ("todo_write", '{"todos": []}')),
        says("planned"),
    )
    agent = harness(journal, model).permission_context(BYPASS).sys_prompt("Be kind.").build()
    async with agent:
        await agent.call([user_message("plan it")], context())
        state = await agent.get_agent_state(context())
    assert state.plan_mode_context.plan_active
    decisions = [f.payload for f in await facts_of(journal, agent) if f.type == "tool/decision"]
    assert {d["tool"]: (d["behavior"], d["because"]) for d in decisions} == {
        "plan_enter": ("allow", "bypass"),
        "write_file": ("deny", "plan_mode"),
        "todo_write": ("allow", "bypass"),
    }
    assert prompt_of(model.requests[0]) == "Be kind."
    assert prompt_of(model.requests[1]).startswith("Be kind.\n\nPlan mode is on.")


async def test_leaving_plan_mode_asks_a_person_even_in_bypass(tmp_path: Path) -> None:
    journal = InMemoryThreadJournal()
    model = ScriptModel(
        calls(("plan_enter", "{}"), ("plan_write", '{"content": "# First"}')),
        calls(("plan_exit", "{}")),
    )
    agent = harness(journal, model).permission_context(BYPASS).workspace(tmp_path).build()
    async with agent:
        result = await agent.call([user_message("plan it")], context())
        state = await agent.get_agent_state(context())
    assert result.finish_reason == "PERMISSION_ASKING"
    assert state.plan_mode_context.plan_active
    facts = await facts_of(journal, agent)
    asked = [f.payload["tool"] for f in facts if f.type == FactType.INTERACTION_REQUESTED]
    assert asked == ["plan_exit"]
    assert plans(tmp_path) == ["# First"]


async def test_todos_are_a_fact_of_the_run_that_wrote_them() -> None:
    journal = InMemoryThreadJournal()
    wanted = '{"todos": [{"content": "read", "status": "in_progress"}]}'
    model = ScriptModel(calls(("todo_write", wanted)), says("noted"))
    agent = harness(journal, model).permission_context(allowing("todo_write")).build()
    async with agent:
        await agent.call([user_message("go")], context())
        state = await agent.get_agent_state(context())
    [task] = state.tasks_context.tasks
    assert (task.subject, task.state) == ("read", "in_progress")
    facts = await facts_of(journal, agent)
    assert types_of(facts).count(FactType.TASK_CHANGED) == 1
    told = next(f for f in facts if f.type == FactType.TOOL_RESULT)
    assert "1 open todo(s)" in str(told.payload)


async def test_only_active_groups_are_offered_and_can_be_called() -> None:
    @tool(effect="none", group="web")
    def fetch() -> str:
        """Fetch."""
        return "fetched"

    journal = InMemoryThreadJournal()
    model = ScriptModel(calls(("fetch", "{}")), says("no"), calls(("fetch", "{}")), says("yes"))
    agent = harness(journal, model).tools(fetch).permission_context(BYPASS).build()
    async with agent:
        await agent.call([user_message("go")], context())

        def activate(state: object) -> None:
            tools = state.tool_context  # type: ignore[attr-defined]
            state.tool_context = type(tools)(activated_groups=("web",))  # type: ignore[attr-defined]

        await agent.update_agent_state(context(), "web is needed", activate)
        await agent.call([user_message("again")], context())
    offered = [{tool["name"] for tool in request.tools} for request in model.requests]
    assert ["fetch" in names for names in offered] == [False, False, True, True]
    results = [f for f in await facts_of(journal, agent) if f.type == FactType.TOOL_RESULT]
    assert "not available" in str(results[0].payload)
    assert "fetched" in str(results[1].payload)
    assert agent.spec.toolkit.groups == ("web",)


async def test_an_agent_chooses_its_own_groups() -> None:
    @tool(effect="none", group="web")
    def fetch() -> str:
        """Fetch."""
        return "fetched"

    journal = InMemoryThreadJournal()
    model = ScriptModel(
        calls(("reset_equipped_tools", "{}"), ("reset_equipped_tools", '{"groups": ["x"]}')),
        calls(("reset_equipped_tools", '{"groups": ["web", "web"]}')),
        calls(("fetch", "{}")),
        says("done"),
    )
    builder = harness(journal, model).tools(fetch, reset_equipped_tools)
    agent = builder.permission_context(BYPASS).build()
    async with agent:
        await agent.call([user_message("go")], context())
        state = await agent.get_agent_state(context())
    assert state.tool_context.activated_groups == ("web",)
    results = [f.payload for f in await facts_of(journal, agent) if f.type == FactType.TOOL_RESULT]
    told = [result["message"]["content"][0]["output"][0]["text"] for result in results]
    assert told == [
        "groups: web; active: none",
        "Error: Tool execution failed: there is no group x; known: web",
        "active: web",
        "fetched",
    ]
