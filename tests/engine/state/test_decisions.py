"""The steps of a permission decision, in their order."""

from __future__ import annotations

import pytest

from agentadmin.engine.errors import DecodeError, InvalidInput
from agentadmin.engine.state.permissions import (
    Behavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
    ToolCheck,
    ToolFacts,
    WorkingDirectory,
    configuration_warnings,
)
from agentadmin.engine.state.permissions.decision import NOT_REACHED, STEPS
from agentadmin.engine.state.plan import PlanModeContext
from tests.engine.state.asking import NOW, ask, context, rule, run

PLANNING = PlanModeContext(plan_active=True)
WRITE = ToolFacts("write_file", file_edit=True, matcher="path")
ASKS = ToolCheck(Behavior.ASK, "sure?")
MUST_ASK = ToolCheck(Behavior.ASK, "really?", bypassable=False)
SAFETY = ToolCheck(Behavior.ASK, "careful", safety=True)


def test_plan_mode_comes_before_everything() -> None:
    made = context(rule("allow", "t"), mode="bypass")
    decision = ask(made, ToolFacts("t"), plan=PLANNING)
    assert (decision.behavior, decision.because) == ("deny", "plan_mode")


@pytest.mark.parametrize(
    "tool", [ToolFacts("t", read_only=True), ToolFacts("t", plan_mode_allowed=True)]
)
def test_plan_mode_lets_reading_and_planning_tools_through(tool: ToolFacts) -> None:
    assert ask(context(mode="bypass"), tool, plan=PLANNING).behavior == "allow"


def test_a_deny_rule_beats_bypass_and_an_allow_rule() -> None:
    made = context(rule("allow", "t"), rule("deny", "t"), mode="bypass")
    decision = ask(made, ToolFacts("t"))
    assert (decision.behavior, decision.because) == ("deny", "deny_rule")
    assert decision.rule == rule("deny", "t")


def test_a_tools_refusal_beats_bypass() -> None:
    tool = ToolFacts("t", check=ToolCheck(Behavior.DENY))
    decision = ask(context(mode="bypass"), tool)
    assert (decision.behavior, decision.because) == ("deny", "tool_check")
    assert "by the tool" in decision.message


@pytest.mark.parametrize(
    ("mode", "behavior"),
    [
        ("default", "ask"),
        ("accept_edits", "ask"),
        ("bypass", "ask"),
        ("explore", "deny"),
        ("dont_ask", "deny"),
    ],
)
def test_safety_is_never_bypassed(mode: str, behavior: str) -> None:
    made = context(rule("allow", "t"), mode=mode)
    decision = ask(made, ToolFacts("t", check=SAFETY))
    assert (decision.behavior, decision.because) == (behavior, "safety_check")


def test_a_read_only_tool_on_a_dangerous_path_asks_even_in_explore() -> None:
    tool = ToolFacts("read_file", read_only=True, matcher="path")
    decision = ask(context(mode="explore"), tool, paths=["/ws/.env"])
    assert (decision.behavior, decision.because) == ("ask", "safety_check")


@pytest.mark.parametrize(
    "path",
    ["/ws/.ENV", "/ws/.git/hooks/x", "/home/u/.ssh/id_rsa", "/home/u/.aws/credentials", "/x/.git/"],
)
def test_a_dangerous_path_is_found_in_any_case_and_depth(path: str) -> None:
    decision = ask(context(mode="bypass"), WRITE, paths=["/ws/fine", path])
    assert decision.because == "safety_check"


def test_a_harmless_path_is_not_called_dangerous() -> None:
    assert ask(context(mode="bypass"), WRITE, paths=["/ws/my.env.md"]).because == "bypass"


def test_explore_decides_before_ask_rules() -> None:
    made = context(rule("ask", "t"), mode="explore")
    assert ask(made, ToolFacts("t")).because == "explore"
    assert ask(made, ToolFacts("t", read_only=True)).behavior == "allow"


def test_an_ask_rule_beats_an_allow_rule_and_bypass() -> None:
    made = context(rule("allow", "t"), rule("ask", "t"), mode="bypass")
    decision = ask(made, ToolFacts("t", check=ToolCheck(Behavior.ALLOW)))
    assert (decision.behavior, decision.because) == ("ask", "ask_rule")


def test_a_tools_consent_is_enough() -> None:
    decision = ask(context(), ToolFacts("t", check=ToolCheck(Behavior.ALLOW, "harmless")))
    assert (decision.behavior, decision.because, decision.message) == (
        "allow",
        "tool_check",
        "harmless",
    )


def test_an_allow_rule_silences_a_plain_ask_only() -> None:
    made = context(rule("allow", "t"))
    assert ask(made, ToolFacts("t", check=ASKS)).because == "allow_rule"
    assert ask(made, ToolFacts("t", check=MUST_ASK)).because == "tool_ask"


@pytest.mark.parametrize("mode", ["default", "accept_edits", "bypass"])
def test_no_mode_answers_for_the_user_where_the_tool_must_ask(mode: str) -> None:
    tool = ToolFacts("plan_exit", read_only=True, check=MUST_ASK)
    decision = ask(context(rule("allow", "plan_exit"), mode=mode), tool)
    assert (decision.behavior, decision.because) == ("ask", "tool_ask")


@pytest.mark.parametrize(("mode", "behavior"), [("bypass", "allow"), ("dont_ask", "deny")])
def test_a_plain_ask_follows_the_mode(mode: str, behavior: str) -> None:
    assert ask(context(mode=mode), ToolFacts("t", check=ASKS)).behavior == behavior


def test_accept_edits_accepts_reading_and_edits_in_working_directories() -> None:
    directories = {"/ws": WorkingDirectory("/ws", "test")}
    made = PermissionContext(PermissionMode.ACCEPT_EDITS, directories)
    assert ask(made, ToolFacts("t", read_only=True)).because == "accept_edits"
    assert ask(made, WRITE, paths=["/ws/a", "/ws"]).because == "accept_edits"
    assert ask(made, WRITE, paths=["/ws/a", "/etc/a"]).because == "mode"
    assert ask(made, WRITE, paths=["/wsx/a"]).because == "mode"
    assert ask(made, WRITE, paths=[]).because == "mode"
    assert ask(made, ToolFacts("t"), paths=["/ws/a"]).because == "mode"


def test_a_rule_that_expired_does_not_count() -> None:
    made = context(
        rule("allow", "t", expires_at="2026-12-01T11:59:59Z"),
        rule("deny", "u", expires_at="2026-12-01T14:00:00+02:00"),
    )
    assert ask(made, ToolFacts("t")).behavior == "ask"
    assert ask(made, ToolFacts("u")).behavior == "ask"
    later = context(rule("allow", "t", expires_at="2026-12-01T12:00:01Z"))
    assert ask(later, ToolFacts("t")).behavior == "allow"


def test_content_on_an_ordinary_tool_never_matches() -> None:
    made = context(rule("deny", "t", "x"), rule("allow", "t", "x"))
    assert ask(made, ToolFacts("t"), {"x": "x"}).because == "mode"
    assert ask(context(rule("allow", "t", "")), ToolFacts("t")).because == "allow_rule"


def test_the_table_decides_the_effect_and_the_key_the_tool() -> None:
    raw = {"tool_name": "other", "rule_content": None, "behavior": "allow", "source": "s"}
    made = PermissionContext.from_dict({"deny_rules": {"t": [raw]}})
    assert ask(made, ToolFacts("t")).because == "deny_rule"
    assert ask(made, ToolFacts("other")).because == "mode"


def test_every_step_is_named_in_the_trace() -> None:
    decision = ask(context(rule("allow", "t")), ToolFacts("t"))
    names = [name for name, _ in STEPS]
    assert [name for name, _ in decision.trace] == names
    assert decision.trace[7] == ("allow_rule", "allow")
    assert all(outcome == NOT_REACHED for _, outcome in decision.trace[8:])
    written = decision.to_dict()
    assert written["because"] == "allow_rule"
    assert written["rule"]["tool_name"] == "t"
    assert written["trace"][0] == {"step": "plan_mode", "outcome": "plan mode is not active"}


def test_without_anyone_to_ask_the_last_step_denies() -> None:
    decision = ask(context(mode="dont_ask"), ToolFacts("t"))
    assert (decision.behavior, decision.because, decision.rule) == ("deny", "dont_ask", None)
    assert "dont_ask" in decision.message
    assert ask(context(mode="bypass"), ToolFacts("t")).message.endswith("(bypass mode)")


def test_suggestions_are_as_narrow_as_the_tool_can_tell() -> None:
    assert [r.rule_content for r in ask(context(), ToolFacts("t")).suggested_rules] == [None]
    paths = ask(context(), WRITE, paths=["/ws/[a].txt"]).suggested_rules
    assert [r.rule_content for r in paths] == ["/ws/[[]a].txt"]
    assert ask(context(paths[0]), WRITE, paths=["/ws/[a].txt"]).behavior == "allow"
    commands = run("npm run build --fast && ls && python 'my tool.py'").suggested_rules
    assert [r.rule_content for r in commands] == ["npm run", "python 'my tool.py'"]
    assert run("npm run build && python 'my tool.py'", *commands).behavior == "allow"
    assert run("npm run build > out").suggested_rules == ()
    assert ask(context(mode="bypass"), ToolFacts("t")).suggested_rules == ()


def test_odd_rules_are_pointed_out() -> None:
    made = PermissionContext.from_dict(
        {
            "allow_rules": {
                "a": [rule("allow", "a", "x").to_dict()],
                "b": [rule("deny", "c").to_dict()],
                "p": [rule("allow", "p", "~/x").to_dict(), rule("allow", "p", "/x").to_dict()],
                "e": [rule("allow", "e", "a && b").to_dict(), rule("allow", "e", "ls").to_dict()],
                "z": [rule("allow", "z", expires_at="2020-01-01T00:00:00Z").to_dict()],
            }
        }
    )
    tools = {
        "a": ToolFacts("a"),
        "b": ToolFacts("b"),
        "p": ToolFacts("p", matcher="path"),
        "e": ToolFacts("e", matcher="command"),
    }
    found = [(each.tool_name, each.detail) for each in configuration_warnings(made, tools, NOW)]
    assert found == [
        ("a", "a understands no patterns: this rule never matches."),
        ("b", "It names c but applies to b, under which it is filed."),
        ("b", "It says deny but does allow, as the table it is filed in."),
        ("p", "`~` is not expanded in patterns: write the absolute path."),
        ("e", "A command rule is the beginning of one simple command: this never matches."),
        ("z", "It has expired and no longer counts."),
        ("z", "The agent has no tool z."),
    ]


def test_a_rule_that_says_nothing_cannot_be_added() -> None:
    with pytest.raises(InvalidInput) as caught:
        context(rule("passthrough", "t"))
    assert caught.value.path == "behavior"


@pytest.mark.parametrize("text", ["2026-12-01T12:00:00", "soon"])
def test_a_rule_needs_an_expiry_with_a_zone(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        PermissionRule.from_dict(rule("allow", "t", expires_at=text).to_dict(), "rules[0]")
    assert caught.value.path == "rules[0].expires_at"
