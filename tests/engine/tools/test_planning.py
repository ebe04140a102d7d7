"""`todo_write` and the plan tools, in runs: what they change, and what plan mode denies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agentadmin.engine.agents.interrupt import InterruptControl
from agentadmin.engine.runtime_context import RuntimeContext
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.tools.builtin import plan_enter, plan_exit, plan_write, todo_write
from agentadmin.engine.tools.context import ToolContext
from agentadmin.engine.tools.executor import execute

if TYPE_CHECKING:
    from pathlib import Path

    from agentadmin.engine.tools.toolkit import Tool


class Ground:
    """A state and a workspace that tools work on."""

    def __init__(self, workspace: Path | None) -> None:
        self.state = AgentState.new("s-1", "alice")
        self.runtime = RuntimeContext.empty()
        self.runtime.agent_state = self.state
        self.workspace = workspace

    async def run(self, tool: Tool, **arguments: Any) -> str:
        """What the model reads."""
        context = ToolContext(
            self.runtime, InterruptControl(), "c1", tool.name, self.workspace, lambda _: None
        )
        outcome = await execute(tool, arguments, context)
        return str(outcome.output[0].raw["text"])


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


async def test_the_todo_list_is_replaced_and_read_back(ground: Ground) -> None:
    todos = [{"content": "read", "status": "COMPLETED", "note": "x"}, {"content": "write"}]
    assert await ground.run(todo_write, todos=todos) == "1 open todo(s):\n- [x] read\n- [ ] write"
    assert ground.state.tasks_context.revision == 1
    assert await ground.run(todo_write, todos=[]) == "Todo list cleared (0 items)."


@pytest.mark.parametrize(
    ("todos", "told"),
    [
        ([{"content": "a", "status": "done"}], "todos[0].status"),
        ([{"content": c, "status": "in_progress"} for c in "ab"], "at most one task"),
        ([{"content": " "}], "todos[0].content"),
    ],
)
async def test_a_wrong_list_changes_nothing(ground: Ground, todos: Any, told: str) -> None:
    answer = await ground.run(todo_write, todos=todos)
    assert answer.startswith("Error: ")
    assert told in answer
    assert ground.state.tasks_context.revision == 0


async def test_a_plan_is_entered_written_and_left(ground: Ground, tmp_path: Path) -> None:
    assert "plans/PLAN.md" in await ground.run(plan_enter)
    assert ground.state.plan_mode_context.plan_active
    assert await ground.run(plan_write, content="# One\n") == "wrote the plan to plans/PLAN.md"
    assert (tmp_path / "plans/PLAN.md").read_text() == "# One\n"
    assert "approved" in await ground.run(plan_exit, summary="short")
    assert not ground.state.plan_mode_context.plan_active
    assert await ground.run(plan_exit) == "Plan mode was not on."


async def test_a_plan_stays_in_the_workspace() -> None:
    nowhere = Ground(None)
    assert "no workspace" in await nowhere.run(plan_write, content="x")
    assert nowhere.state.plan_mode_context.current_plan_file is None
