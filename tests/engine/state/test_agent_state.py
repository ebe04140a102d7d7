"""States read AgentScope's files and write them back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentadmin.engine.errors import DecodeError, InvalidInput
from agentadmin.engine.messages import Block, Msg, user_message
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.permissions import PermissionContext, PermissionMode
from agentadmin.engine.state.plan import PlanModeContext
from agentadmin.engine.state.tasks import Task, TaskState
from tests.engine.state import fixtures

PROBES = [p for p in fixtures.document("decode_probes.json") if p["kind"] != "AgentEvent"]
# Decision 1: unknown enum values of messages survive instead of being refused.
KEPT_THOUGH_JAVA_REFUSES = {"lower role", "tool_use bad state"}
# Decision 1: unknown fields are written back instead of vanishing.
WRITTEN_BACK = {"camelCase ignored", "newer tasks_context read by 2.0"}
READERS: dict[str, Any] = {"AgentState": AgentState, "Msg": Msg, "ContentBlock": Block}


def _read(probe: dict[str, Any]) -> Any:
    return READERS[probe["kind"]].from_dict(json.loads(probe["input_json"]))


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["label"])
def test_a_probe_is_accepted_or_refused_as_in_java(probe: dict[str, Any]) -> None:
    if probe["accepted"] or probe["label"] in KEPT_THOUGH_JAVA_REFUSES:
        _read(probe)
    else:
        with pytest.raises(DecodeError) as caught:
            _read(probe)
        assert caught.value.path


@pytest.mark.parametrize(
    "probe",
    [p for p in PROBES if p["kind"] == "AgentState" and p["accepted"]],
    ids=lambda probe: probe["label"],
)
def test_an_accepted_state_means_what_java_understood(probe: dict[str, Any]) -> None:
    written = _read(probe).to_dict()
    expected = probe["re_encoded"]
    given = json.loads(probe["input_json"])
    for name, value in expected.items():
        if name in ("session_id", "reply_id") and name not in given:
            assert len(written[name]) == 32
        elif probe["label"] in WRITTEN_BACK and name in given:
            assert written[name] == {**value, **given[name]} if isinstance(value, dict) else value
        else:
            assert written[name] == value


@pytest.mark.parametrize("name", ["agent_state_full.json", "agent_state_empty.json"])
def test_a_java_state_is_written_back_with_its_order(name: str) -> None:
    raw = fixtures.document(name)
    assert json.dumps(AgentState.from_dict(raw).to_dict()) == json.dumps(raw)


@pytest.mark.parametrize(
    "name", ["legacy_agent_state_no_subcontexts.json", "legacy_agent_state_only_id.json"]
)
def test_a_legacy_state_gets_defaults(name: str) -> None:
    state = AgentState.from_json(fixtures.text(name))
    assert state.summary == ""
    assert state.context == ()
    assert state.permission_context.mode is PermissionMode.DEFAULT
    assert state.tool_context.max_cache_files == 100
    assert state.plan_mode_context == PlanModeContext()


def test_a_legacy_tool_context_without_a_spawn_registry_is_read() -> None:
    raw = {"tool_context": fixtures.document("legacy_tool_context_no_spawn_registry.json")}
    assert AgentState.from_dict(raw).tool_context.activated_groups == ("basic",)


def test_unknown_fields_survive_everywhere() -> None:
    raw = fixtures.document("agent_state_full.json")
    raw["future"] = {"a": [1]}
    raw["permission_context"]["x"] = 1
    raw["permission_context"]["allow_rules"]["read_file"][0]["note"] = "why"
    raw["permission_context"]["working_directories"]["/tmp/proj"]["x"] = 2
    raw["tool_context"]["read_file_cache"] = []
    raw["tasks_context"]["revision"] = 3
    raw["tasks_context"]["scope"] = {"task_id": "t"}
    raw["tasks_context"]["tasks"][0]["x"] = None
    raw["plan_mode_context"]["x"] = 1
    raw["context"][0]["x"] = 1
    state = AgentState.from_dict(raw)
    assert state.to_dict() == raw
    assert state.tasks_context.revision == 3
    assert state.copy() == state


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"session_id": 4}, "session_id"),
        ({"summary": []}, "summary"),
        ({"context": {}}, "context"),
        (
            {"context": [{}, {}, {}, {"content": [{"type": "image"}]}]},
            "context[3].content[0].source",
        ),
        ({"context": [None]}, "context[0]"),
        ({"cur_iter": "five"}, "cur_iter"),
        ({"cur_iter": 1.5}, "cur_iter"),
        ({"cur_iter": True}, "cur_iter"),
        ({"shutdown_interrupted": "maybe"}, "shutdown_interrupted"),
        ({"shutdown_interrupted": []}, "shutdown_interrupted"),
        ({"permission_context": 1}, "permission_context"),
        ({"permission_context": {"mode": "yolo"}}, "permission_context.mode"),
        ({"permission_context": {"allow_rules": []}}, "permission_context.allow_rules"),
        ({"permission_context": {"deny_rules": {"a": {}}}}, "permission_context.deny_rules.a"),
        (
            {"permission_context": {"deny_rules": {"a": [{"tool_name": "a", "source": "s"}]}}},
            "permission_context.deny_rules.a[0].behavior",
        ),
        (
            {
                "permission_context": {
                    "ask_rules": {"a": [{"tool_name": "a", "source": "s", "behavior": "perhaps"}]}
                }
            },
            "permission_context.ask_rules.a[0].behavior",
        ),
        (
            {"permission_context": {"ask_rules": {"a": [{"behavior": "ask", "source": "s"}]}}},
            "permission_context.ask_rules.a[0].tool_name",
        ),
        (
            {"permission_context": {"working_directories": {"/x": {}}}},
            'permission_context.working_directories["/x"].path',
        ),
        ({"tool_context": {"max_cache_files": 1}}, "tool_context.max_cache_files"),
        ({"tool_context": {"max_cache_bytes": 10000}}, "tool_context.max_cache_bytes"),
        ({"tool_context": {"max_cache_bytes": "x"}}, "tool_context.max_cache_bytes"),
        ({"tool_context": {"activated_groups": [1]}}, "tool_context.activated_groups[0]"),
        ({"tool_context": {"spawn_registry": {"k": 1}}}, "tool_context.spawn_registry.k"),
        ({"tasks_context": {"tasks": [{"description": "d"}]}}, "tasks_context.tasks[0].subject"),
        (
            {"tasks_context": {"tasks": [{"subject": "s", "description": "d", "state": "odd"}]}},
            "tasks_context.tasks[0].state",
        ),
        (
            {
                "tasks_context": {
                    "tasks": [{"subject": "s", "description": "d", "metadata": {"k": None}}]
                }
            },
            "tasks_context.tasks[0].metadata.k",
        ),
        ({"tasks_context": {"tasks": [1]}}, "tasks_context.tasks[0]"),
        ({"tasks_context": {"revision": "x"}}, "tasks_context.revision"),
        ({"plan_mode_context": {"current_plan_file": 1}}, "plan_mode_context.current_plan_file"),
    ],
)
def test_a_wrong_state_is_refused_with_its_path(change: dict[str, Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        AgentState.from_dict({"session_id": "s", **change})
    assert caught.value.path == path


def test_javas_numeric_coercions_are_accepted() -> None:
    raw = {"cur_iter": "5", "shutdown_interrupted": 1, "tool_context": {"max_cache_files": 50.0}}
    state = AgentState.from_dict(raw)
    assert (state.cur_iter, state.shutdown_interrupted) == (5, True)
    assert state.tool_context.max_cache_files == 50


def test_a_new_state_is_empty_and_asks_about_everything() -> None:
    state = AgentState.new()
    assert len(state.session_id) == len(state.reply_id) == 32
    assert (state.user_id, state.thread_id, state.summary) == (None, "main", "")
    assert "thread_id" not in state.to_dict()
    other = PermissionContext(mode=PermissionMode.EXPLORE)
    assert AgentState.new("s", permission_context=other).permission_context is other


def test_another_thread_is_named_in_the_document() -> None:
    state = AgentState.new("s", "u", "side")
    assert AgentState.from_json(state.to_json()) == state
    assert list(state.to_dict())[:5] == ["session_id", "user_id", "thread_id", "summary", "context"]


def test_identity_cannot_be_changed_in_place() -> None:
    state = AgentState.new("s")
    with pytest.raises(AttributeError):
        state.session_id = "t"  # type: ignore[misc]
    moved = state.with_identity("t", "eve", "side")
    assert (moved.session_id, moved.user_id, moved.thread_id) == ("t", "eve", "side")
    assert state.session_id == "s"


def test_setters_keep_javas_defaults() -> None:
    state = AgentState.new("s")
    state.set_summary("x")
    state.summary = None
    state.reply_id = None
    assert (state.summary, len(state.reply_id)) == ("", 32)
    with pytest.raises(InvalidInput):
        state.permission_context = None  # type: ignore[assignment]


def test_the_context_view_cannot_change_the_state() -> None:
    state = AgentState.new("s")
    view = state.context
    state.context_mutable().append(user_message("hi"))
    assert (len(view), len(state.context)) == (0, 1)


def test_a_state_is_its_substates_and_its_messages() -> None:
    state = fixtures.full_state()
    parts = state.substates()
    assert "context" not in parts
    assert AgentState.from_parts(parts, state.context) == state


def test_a_copy_shares_parts_but_changes_alone() -> None:
    state = fixtures.full_state()
    twin = state.copy()
    assert twin == state
    assert twin.permission_context is state.permission_context
    twin.context_mutable().clear()
    twin.extra["x"] = 1
    twin.permission_context = PermissionContext()
    assert state == fixtures.full_state()
    assert twin != state
    assert "4 messages" in repr(state)


def test_plan_mode_keeps_its_file() -> None:
    entered = PlanModeContext().entered("plans/PLAN.md")
    assert (entered.plan_active, entered.current_plan_file) == (True, "plans/PLAN.md")
    left = entered.left()
    assert (left.plan_active, left.current_plan_file) == (False, "plans/PLAN.md")
    assert left.left() is left


def test_changing_tasks_counts_revisions() -> None:
    context = fixtures.full_state().tasks_context
    changed = context.with_tasks([Task("a", "b")]).with_tasks(())
    assert (context.revision, changed.revision, changed.tasks) == (0, 2, ())
    assert Task("a", "b").state is TaskState.PENDING
