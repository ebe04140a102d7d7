"""What a change of mode or rules means for the next calls: true for every tool it names."""

from itertools import pairwise
from typing import Any

import pytest

from agentadmin.engine.clock import now
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import apply, effects
from agentadmin.engine.state.permissions import PermissionMode, decide
from agentadmin.engine.tools.builtin import DEMO_TOOLS

KINDS = [tool.kind(None) for tool in DEMO_TOOLS]
NAMES = {"allow": "run", "deny": "be denied", "ask": "ask"}


def changed(*operations: dict[str, Any]) -> tuple[AgentState, AgentState]:
    """The states before and after the last operation."""
    states = [AgentState.new()]
    for operation in operations:
        states.append(apply(states[-1], operation, now=now()))
    return states[-2], states[-1]


def mode(name: str) -> dict[str, Any]:
    return {"op": "set_permission_mode", "mode": name}


def rule(behavior: str, tool: str, pattern: str | None = None) -> dict[str, Any]:
    return {
        "op": "add_rule",
        "behavior": behavior,
        "tool_name": tool,
        "rule_content": pattern,
        "source": "s",
    }


def line_of(tool: str, lines: list[str]) -> str:
    return next((line for line in lines if f"“{tool}”" in line), "")


def test_explore_denies_what_writes_and_runs_what_reads_also_without_a_rule() -> None:
    lines = effects(*changed(rule("allow", "calculator"), mode("explore")), KINDS)
    assert "ask and allow rules do not count" in lines[0]
    assert "will be denied on their next calls." in line_of("create_order", lines)
    assert line_of("calculator", lines) == ""  # It ran before, and it runs now.
    assert "will run on their next calls." in line_of("read_file", lines)
    assert "be denied" in line_of("execute", lines)


def test_of_tools_that_nobody_knows_only_the_certain_is_said() -> None:
    assert line_of("look", effects(*changed(rule("allow", "look"), mode("explore")))) == ""
    before, after = changed(rule("allow", "look"), rule("deny", "look"))
    assert line_of("look", effects(before, after)) == "“look” will be denied on its next call."


def test_what_hangs_on_arguments_or_patterns_is_told_as_such() -> None:
    lines = effects(*changed(mode("explore"), mode("default")), KINDS)
    assert "will run or ask on its next call, as the arguments say." in line_of("execute", lines)
    lines = effects(*changed(rule("deny", "read_file", "*.key"), mode("dont_ask")), KINDS)
    assert "unless a rule's pattern decides" in line_of("read_file", lines)


@pytest.mark.parametrize(
    ("old", "new"), [*pairwise(PermissionMode), *pairwise(reversed(PermissionMode))]
)
def test_every_certain_sentence_is_what_the_decision_says(
    old: PermissionMode, new: PermissionMode
) -> None:
    before, after = changed(mode(old), mode(new))
    for tool in DEMO_TOOLS:
        line = line_of(tool.name, effects(before, after, KINDS))
        facts = tool.facts({}, None)
        made = decide(after.permission_context, after.plan_mode_context, facts, {}, now())
        assert not line or NAMES[made.behavior] in line
