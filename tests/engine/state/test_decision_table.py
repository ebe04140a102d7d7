"""The recorded decisions of AgentScope for Java, and every deviation that we chose."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    ToolCheck,
    ToolFacts,
)
from tests.engine.state import fixtures
from tests.engine.state.asking import ask

ROWS = fixtures.document("permission_engine_decision_table.json")

CHECKS = {
    "passthrough": None,
    "allow": ToolCheck(Behavior.ALLOW, "tool says yes"),
    "deny": ToolCheck(Behavior.DENY, "tool blocked"),
    "ask (no safety reason)": ToolCheck(Behavior.ASK, "tool asks"),
    "ask (reason contains safety)": ToolCheck(Behavior.ASK, "safety check", safety=True),
}


def _deviation(row: dict[str, Any]) -> tuple[str, str] | None:
    """What we decide instead of Java, and by which step; the spec's Decision 2 says why."""
    java, mode = row["decision"]["behavior"], row["mode"]
    check, read_only = row["tool_self_check"], row["tool_read_only"]
    asked_by_rule = any(rule["behavior"] == "ask" for rule in row["rules"])
    if java == "deny":
        return None
    # The tool's own refusal comes before ask rules and before what a mode lets pass.
    if check == "deny":
        return "deny", "tool_check"
    # A safety ask comes before what a mode lets pass.
    if check == "ask (reason contains safety)" and mode in ("explore", "accept_edits"):
        if mode == "explore" and not read_only:
            return "deny", "safety_check"
        return None if java == "ask" else ("ask", "safety_check")
    # Explore decides before ask rules.
    if mode == "explore" and asked_by_rule:
        return ("allow" if read_only else "deny"), "explore"
    # Nobody is there to be asked.
    if mode == "dont_ask" and java == "ask":
        safety = check == "ask (reason contains safety)"
        return "deny", "safety_check" if safety else "ask_rule"
    return None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["label"])
def test_a_recorded_decision_is_repeated_or_deviates_as_decided(row: dict[str, Any]) -> None:
    made = PermissionContext(mode=PermissionMode(row["mode"]))
    for raw in row["rules"]:
        made = made.with_rule(PermissionRule.from_dict(raw))
    tool = ToolFacts(
        "execute",
        read_only=row["tool_read_only"],
        matcher="command" if row["tool_match_rule"] == "prefix" else "none",
        check=CHECKS[row["tool_self_check"]],
    )
    decision = ask(made, tool, row["input"])
    deviation = _deviation(row)
    if deviation is None:
        assert decision.behavior == row["decision"]["behavior"]
    else:
        assert (decision.behavior, decision.because) == deviation


def test_the_deviations_are_these_many() -> None:
    deviating = [row for row in ROWS if _deviation(row) is not None]
    changed = [row for row in deviating if _deviation(row)[0] != row["decision"]["behavior"]]  # type: ignore[index]
    assert len(ROWS) == 195
    assert len(changed) == 38


def test_messages_are_javas_where_java_has_the_same_step() -> None:
    decision = ask(PermissionContext(), ToolFacts("execute"))
    recorded = fixtures.document("permission_decision_ask.json")
    assert decision.behavior == recorded["behavior"]
    assert decision.message == recorded["message"]
    assert [rule.to_dict() for rule in decision.suggested_rules] == recorded["suggested_rules"]
