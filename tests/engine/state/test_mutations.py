"""Operations change a copy, say what they need, and are refused by index and path."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import OPERATIONS, apply, apply_all, diff, effects, spec_of
from agentadmin.engine.state.permissions import PermissionContext, WorkingDirectory
from agentadmin.engine.state.plan import PlanModeContext
from agentadmin.engine.state.tasks import Task
from agentadmin.engine.state.widening import narrowing, widening
from tests.engine.state import fixtures
from tests.engine.state.asking import NOW, context, rule

RULE = {"behavior": "deny", "tool_name": "execute", "rule_content": "rm -rf"}


def _changed(operation: dict[str, Any]) -> AgentState:
    return apply(fixtures.full_state(), operation, now=NOW)


def test_clearing_keeps_everything_but_messages_and_summary() -> None:
    before = fixtures.full_state()
    after = apply(before, {"op": "clear_context"}, now=NOW)
    assert (after.context, after.summary) == ((), "")
    cleared = before.to_dict() | {"context": [], "summary": ""}
    assert after.to_dict() == cleared
    assert before == fixtures.full_state()


def test_every_operation_says_what_it_needs_and_touches() -> None:
    table = {name: (spec.permission, set(spec.substates)) for name, spec in OPERATIONS.items()}
    for name, expected in {
        "clear_context": ("sessions:clear", {"context", "summary"}),
        "set_summary": ("sessions:edit_summary", {"summary"}),
        "set_permission_mode": ("permissions:edit", {"permission_context"}),
        "add_rule": ("permissions:edit", {"permission_context"}),
        "remove_rule": ("permissions:edit", {"permission_context"}),
    }.items():
        assert table[name] == expected


def test_a_mode_is_set_and_rules_stay() -> None:
    after = _changed({"op": "set_permission_mode", "mode": "dont_ask"})
    assert after.permission_context.mode == "dont_ask"
    assert (
        after.permission_context.deny_rules == fixtures.full_state().permission_context.deny_rules
    )


def test_a_rule_is_added_once() -> None:
    operation = {**RULE, "op": "add_rule", "source": "test", "rule_content": None}
    once = _changed(operation)
    twice = apply(once, operation, now=NOW)
    assert twice == once
    assert twice.permission_context is once.permission_context
    assert [r.rule_content for r in once.permission_context.deny_rules["execute"]] == [
        "rm -rf",
        None,
    ]


def test_empty_content_is_the_same_rule_as_none() -> None:
    first = {"op": "add_rule", "behavior": "ask", "tool_name": "t", "source": "s"}
    state = apply_all(AgentState.new("s"), [first, {**first, "rule_content": ""}], now=NOW)
    assert len(state.permission_context.ask_rules["t"]) == 1


def test_adding_a_known_rule_with_another_expiry_changes_the_expiry() -> None:
    operation = {"op": "add_rule", "behavior": "allow", "tool_name": "t", "source": "s"}
    until = {**operation, "expires_at": "2027-01-01T00:00:00Z"}
    state = apply_all(AgentState.new("s"), [operation, until], now=NOW)
    (only,) = state.permission_context.allow_rules["t"]
    assert only.expires_at == "2027-01-01T00:00:00Z"


def test_a_rule_is_removed_and_its_empty_table_with_it() -> None:
    after = _changed({"op": "remove_rule", **RULE})
    assert after.permission_context.deny_rules == {}
    exact = _changed({"op": "remove_rule", **RULE, "source": "projectSettings"})
    assert exact == after


def test_removing_a_missing_rule_names_it() -> None:
    for wrong in ({**RULE, "rule_content": "rm"}, {**RULE, "source": "nobody"}):
        with pytest.raises(InvalidOperation, match="deny execute 'rm") as caught:
            _changed({"op": "remove_rule", **wrong})
        assert caught.value.path == "tool_name"


@pytest.mark.parametrize(
    ("operation", "path"),
    [
        ("clear_context", ""),
        ({}, "op"),
        ({"op": "explode"}, "op"),
        ({"op": ["clear_context"]}, "op"),
        ({"op": "clear_context", "really": True}, "really"),
        ({"op": "set_summary"}, "summary"),
        ({"op": "set_summary", "summary": 1}, "summary"),
        ({"op": "set_permission_mode"}, "mode"),
        ({"op": "set_permission_mode", "mode": "yolo"}, "mode"),
        ({"op": "add_rule", "tool_name": "t", "source": "s"}, "behavior"),
        ({"op": "add_rule", "behavior": "perhaps", "tool_name": "t", "source": "s"}, "behavior"),
        ({"op": "add_rule", "behavior": "passthrough", "tool_name": "t"}, "behavior"),
        ({"op": "add_rule", "behavior": "allow", "source": "s"}, "tool_name"),
        ({"op": "add_rule", "behavior": "allow", "tool_name": " ", "source": "s"}, "tool_name"),
        ({"op": "add_rule", "behavior": "allow", "tool_name": "t"}, "source"),
        ({"op": "add_rule", "behavior": "allow", "tool_name": "t", "source": ""}, "source"),
        (
            {
                "op": "add_rule",
                "behavior": "allow",
                "tool_name": "t",
                "source": "s",
                "rule_content": 1,
            },
            "rule_content",
        ),
        (
            {
                "op": "add_rule",
                "behavior": "allow",
                "tool_name": "t",
                "source": "s",
                "expires_at": "2020-01-01T00:00:00Z",
            },
            "expires_at",
        ),
        ({"op": "remove_rule", "behavior": "allow"}, "tool_name"),
    ],
)
def test_a_wrong_operation_is_refused_with_index_and_path(operation: Any, path: str) -> None:
    with pytest.raises(InvalidOperation) as caught:
        apply_all(fixtures.full_state(), [{"op": "clear_context"}, operation], now=NOW)
    assert (caught.value.index, caught.value.path) == (1, path)


@pytest.mark.parametrize(
    ("operation", "widens"),
    [
        ({"op": "clear_context"}, False),
        ({"op": "set_permission_mode", "mode": "bypass"}, True),
        ({"op": "set_permission_mode", "mode": "explore"}, False),
        ({"op": "add_rule", "behavior": "allow", "tool_name": "t", "source": "s"}, True),
        ({"op": "add_rule", "behavior": "allow", "tool_name": "read_file", "source": "s"}, False),
        ({"op": "add_rule", "behavior": "deny", "tool_name": "t", "source": "s"}, False),
        ({"op": "remove_rule", **RULE}, True),
        ({"op": "remove_rule", "behavior": "ask", "tool_name": "execute"}, True),
        ({"op": "remove_rule", "behavior": "allow", "tool_name": "read_file"}, False),
    ],
)
def test_an_operation_says_whether_it_widens(operation: dict[str, Any], widens: bool) -> None:
    assert spec_of(operation).widens(fixtures.full_state(), operation, NOW) is widens


def test_widening_is_seen_between_any_two_contexts() -> None:
    old = context(rule("deny", "a"), rule("allow", "b", expires_at="2027-01-01T00:00:00Z"))
    new = PermissionContext(working_directories={"/x": WorkingDirectory("/x", "s")}).with_rule(
        rule("allow", "b")
    )
    assert widening(old, new) == [
        "adds the rule allow b",
        "removes the rule deny a",
        "adds the working directory /x",
    ]
    assert narrowing(new, old) == [
        "removes the rule allow b",
        "adds the rule deny a",
        "removes the working directory /x",
    ]
    assert widening(old, old) == []


def test_the_diff_of_equal_states_is_empty() -> None:
    assert diff(fixtures.full_state(), fixtures.full_state()) == {}
    assert effects(fixtures.full_state(), fixtures.full_state()) == []


def test_the_diff_names_messages_by_id() -> None:
    before = fixtures.full_state()
    after = before.copy()
    messages = after.context_mutable()
    del messages[0]
    messages[0] = messages[0].replace(name="eve")
    added = user_message("new")
    messages += [added, added, added.replace(id=None)]
    assert diff(before, after) == {
        "messages": {
            "before": 4,
            "after": 6,
            "added": [added.id, f"{added.id}#2", "#1"],
            "removed": ["11111111-1111-4111-8111-111111111111"],
            "changed": ["22222222-2222-4222-8222-222222222222"],
            "moved": [],
        }
    }


def test_the_diff_tells_permissions_apart() -> None:
    before = fixtures.full_state()
    after = apply_all(
        before,
        [
            {"op": "set_permission_mode", "mode": "bypass"},
            {"op": "remove_rule", **RULE},
            {"op": "add_rule", "behavior": "ask", "tool_name": "t", "source": "s"},
        ],
        now=NOW,
    )
    after.permission_context = PermissionContext(
        after.permission_context.mode,
        {},
        after.permission_context.allow_rules,
        after.permission_context.deny_rules,
        after.permission_context.ask_rules,
    )
    found = diff(before, after)["permission"]
    assert found["mode"] == {"before": "accept_edits", "after": "bypass"}
    assert [each["effect"] for each in found["rules_added"]] == ["ask"]
    assert [each["rule_content"] for each in found["rules_removed"]] == ["rm -rf"]
    assert found["widened"] == ["the mode becomes bypass", "removes the rule deny execute 'rm -rf'"]
    assert found["narrowed"] == [
        "adds the rule ask t",
        "removes the working directory /tmp/proj",
    ]
    assert list(found["working_directories"]) == ["/tmp/proj"]


def test_the_diff_covers_every_other_part() -> None:
    before = fixtures.full_state()
    after = before.copy()
    first, second, _ = before.tasks_context.tasks
    after.tasks_context = before.tasks_context.with_tasks(
        [first, Task("x", "y", id="n"), Task(second.subject, "changed", id=second.id)]
    )
    after.plan_mode_context = PlanModeContext()
    after.tool_context = AgentState.new().tool_context
    after.cur_iter = 9
    after.extra["x"] = 1
    found = diff(before, after)
    assert set(found) == {"tasks", "plan", "tools", "cur_iter", "extra"}
    assert [len(found["tasks"][key]) for key in ("added", "removed", "changed")] == [1, 1, 1]
    assert found["tasks"]["revision"] == {"before": None, "after": 1}
    assert found["plan"]["plan_active"] == {"before": True, "after": False}
    assert "activated_groups" in found["tools"]


def test_effects_are_plain_sentences() -> None:
    before = fixtures.full_state()
    assert effects(before, _changed({"op": "clear_context"})) == [
        "4 messages leave the working context; history keeps them.",
        "The summary is cleared.",
    ]
    assert effects(before, _changed({"op": "set_summary", "summary": "x"})) == [
        "The summary is replaced."
    ]
    operation = {"op": "add_rule", "behavior": "deny", "tool_name": "t", "source": "s"}
    assert effects(before, _changed(operation)) == [
        "Adds the rule deny t.",
        "“t” will be denied on its next call.",
    ]
    assert "mode" not in diff(before, _changed(operation))["permission"]
    operation = {"op": "remove_rule", "behavior": "allow", "tool_name": "read_file"}
    assert effects(before, _changed(operation)) == [
        "Removes the rule allow read_file.",
    ]
    assert effects(before, _changed({"op": "set_permission_mode", "mode": "explore"})) == [
        "The mode explore lets only what reads pass; ask and allow rules do not count in it.",
    ]


def test_effects_mention_plan_tasks_and_single_messages() -> None:
    before = fixtures.full_state()
    after = before.copy()
    del after.context_mutable()[0]
    after.plan_mode_context = before.plan_mode_context.left()
    after.tasks_context = before.tasks_context.with_tasks(())
    assert effects(before, after) == [
        "1 message leaves the working context; history keeps it.",
        "Plan mode ends.",
        "The task list has 0 tasks instead of 3.",
    ]
    assert "Plan mode begins" in effects(after, before)[1]
    assert effects(after, before)[0] == "1 message more in the working context."
    changed = before.copy()
    changed.context_mutable()[0] = before.context[0].replace(name="eve")
    assert effects(before, changed) == ["Messages of the working context change."]
    changed.context_mutable()[0] = user_message("other")
    assert effects(before, changed) == [
        "1 message leaves the working context; history keeps it.",
        "1 message more in the working context.",
    ]
