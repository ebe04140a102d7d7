"""To-dos, the task with its requirements, plan mode, tool groups and working directories."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.errors import InvalidOperation, StaleTasks
from agentadmin.engine.state import codec
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import OPERATIONS, apply, apply_all, diff, effects
from agentadmin.engine.state.task_contract import is_stale, requirements_of
from agentadmin.engine.state.todos import told
from agentadmin.engine.state.widening import widening
from tests.engine.state.asking import NOW

TODOS = [
    {"content": "read", "status": "completed", "priority": "high"},
    {"content": "write", "status": "in_progress"},
    {"content": "send"},
]
BEGIN = {"op": "begin_task", "task_id": "t1", "objective": "ship", "requirements": [{"text": "a"}]}


def start() -> AgentState:
    return AgentState.new("s-1", "alice")


def changed(*operations: dict[str, Any], state: AgentState | None = None) -> AgentState:
    return apply_all(state or start(), operations, now=NOW)


def refused(operation: dict[str, Any], state: AgentState | None = None) -> InvalidOperation:
    with pytest.raises(InvalidOperation) as caught:
        apply(state or start(), operation, now=NOW, index=3)
    assert caught.value.index == 3
    return caught.value


def test_todos_replace_the_list_and_keep_what_is_known_of_a_text() -> None:
    first = changed({"op": "set_todos", "todos": TODOS})
    assert [(t.subject, t.description, t.state) for t in first.tasks_context.tasks] == [
        ("read", "read", "completed"),
        ("write", "write", "in_progress"),
        ("send", "send", "pending"),
    ]
    assert first.tasks_context.revision == 1
    again = changed({"op": "set_todos", "todos": [{"content": "send", "status": ""}]}, state=first)
    [kept] = again.tasks_context.tasks
    assert kept == first.tasks_context.tasks[2]
    assert again.tasks_context.revision == 2
    assert "The task list has 1 task instead of 3." in effects(first, again)
    assert diff(first, again)["tasks"]["revision"] == {"before": 1, "after": 2}


def test_the_same_change_gives_the_same_ids_and_no_two_todos_share_one() -> None:
    twice = {"op": "set_todos", "todos": [{"content": "same"}, {"content": "same"}]}
    one, other = changed(twice), changed(twice)
    assert one.tasks_context == other.tasks_context
    assert len({task.id for task in one.tasks_context.tasks}) == 2
    assert len({task.id for task in changed(twice, state=one).tasks_context.tasks}) == 2


@pytest.mark.parametrize(
    ("todos", "path"),
    [
        ([{"content": "  "}], "todos[0].content"),
        ([{"content": "a"}, {"status": "pending"}], "todos[1].content"),
        ([{"content": "a", "status": "done"}], "todos[0].status"),
        ([{"content": c, "status": "in_progress"} for c in "ab"], "todos[1].status"),
        ([{"content": "a", "due": "now"}], "todos[0].due"),
        (["a"], "todos[0]"),
        ("a", "todos"),
        (None, "todos"),
    ],
)
def test_a_wrong_todo_is_named_and_nothing_changes(todos: Any, path: str) -> None:
    operation = {"op": "set_todos", "todos": todos}
    if todos is None:
        del operation["todos"]
    assert refused(operation).path == path


def test_a_revision_that_was_overtaken_is_told() -> None:
    state = changed({"op": "set_todos", "todos": TODOS, "revision": 0})
    with pytest.raises(StaleTasks) as caught:
        changed({"op": "set_todos", "todos": [], "revision": 0}, state=state)
    assert caught.value.extra() == {"revision": 1}
    assert refused({"op": "set_todos", "todos": [], "revision": "1"}).path == "revision"
    assert changed({"op": "set_todos", "todos": [], "revision": 1}, state=state)


def test_the_list_is_told_as_the_model_reads_it() -> None:
    context = changed({"op": "set_todos", "todos": TODOS}).tasks_context
    assert told(context) == (
        "2 open todo(s):\n- [x] read (priority: high)\n- [~] write\n- [ ] send"
    )
    assert told(changed({"op": "set_todos", "todos": []}).tasks_context) == (
        "Todo list cleared (0 items)."
    )


def test_a_task_has_requirements_that_only_people_decide() -> None:
    state = changed(BEGIN)
    [candidate] = requirements_of(state.tasks_context)
    assert (candidate["text"], candidate["status"]) == ("a", "candidate")
    assert state.tasks_context.extra["scope"] == {
        "task_id": "t1",
        "objective": "ship",
        "source": "operator",
    }
    decide = {"op": "decide_requirement", "id": candidate["id"], "decision": "confirm"}
    decided = changed({**decide, "decided_by": "olga"}, state=state)
    [requirement] = requirements_of(decided.tasks_context)
    assert (requirement["status"], requirement["decided_by"]) == ("confirmed", "olga")
    assert decided.tasks_context.extra["contract_version"] == 2
    assert decided.tasks_context.revision == 2
    assert refused({**decide, "id": "x"}, state).path == "id"
    assert "known" in refused({**decide, "id": "x"}, state).detail
    assert refused({**decide, "decision": "maybe"}, state).path == "decision"


def test_another_task_drops_the_requirements_of_the_one_before() -> None:
    state = changed(BEGIN)
    more = {**BEGIN, "objective": "ship it", "requirements": [{"id": "b", "text": "b"}]}
    assert [r["text"] for r in requirements_of(changed(more, state=state).tasks_context)] == [
        "a",
        "b",
    ]
    other = changed({**BEGIN, "task_id": "t2", "requirements": []}, state=state)
    assert "requirements" not in other.tasks_context.to_dict()
    assert "Another task is the thread's task now." in effects(state, other)
    taken = {**more, "requirements": [{"id": "b", "text": "b"}, {"id": "b", "text": "c"}]}
    assert refused(taken).path == "requirements[1].id"
    assert refused({"op": "begin_task", "objective": " "}).path == "objective"


def test_a_check_of_another_subject_is_stale() -> None:
    state = changed({"op": "set_subject_version", "subject_version": "sha-1"})
    context = state.tasks_context
    assert context.extra["subject_version"] == "sha-1"
    check = {"contract_version": 1, "subject_version": "sha-1"}
    assert not is_stale(context, check)
    later = changed({"op": "set_subject_version", "subject_version": None}, state=state)
    assert is_stale(later.tasks_context, check)
    assert "subject_version" not in later.tasks_context.to_dict()
    same = {"op": "set_subject_version", "subject_version": "sha-1"}
    assert changed(same, state=state) == state
    assert refused({"op": "set_subject_version"}).path == "subject_version"


def test_odd_imported_requirements_are_refused_by_their_place() -> None:
    raw = start().to_dict()
    raw["tasks_context"] = {"tasks": [], "requirements": ["odd"]}
    odd = AgentState.from_json(codec.dumps(raw))
    wrong = refused({"op": "decide_requirement", "id": "a", "decision": "confirm"}, odd)
    assert wrong.path == "tasks_context.requirements[0]"


def test_plan_mode_is_entered_and_left_and_keeps_its_file() -> None:
    state = changed({"op": "enter_plan_mode"})
    assert state.plan_mode_context.plan_active
    assert state.plan_mode_context.current_plan_file == "plans/PLAN.md"
    left = changed({"op": "exit_plan_mode"}, state=state)
    assert not left.plan_mode_context.plan_active
    assert left.plan_mode_context.current_plan_file == "plans/PLAN.md"
    assert changed({"op": "exit_plan_mode"}, state=left) == left
    assert diff(state, left)["plan"]["plan_active"] == {"before": True, "after": False}


def test_tool_groups_are_exactly_those_that_are_named() -> None:
    state = changed({"op": "activate_tool_groups", "groups": ["web", "shell", "web"]})
    assert state.tool_context.activated_groups == ("web", "shell")
    fewer = changed({"op": "activate_tool_groups", "groups": []}, state=state)
    assert fewer.tool_context.activated_groups == ()
    assert "The tools of shell, web are no longer offered." in effects(state, fewer)
    unknown = {"op": "activate_tool_groups", "groups": ["web", "x"], "known": ("web",)}
    wrong = refused(unknown)
    assert (wrong.path, "web" in wrong.detail) == ("groups[1]", True)
    assert refused({"op": "activate_tool_groups", "groups": [" "]}).path == "groups[0]"
    assert refused({"op": "activate_tool_groups"}).path == "groups"


def test_a_working_directory_is_added_once_and_widens() -> None:
    add = {"op": "add_working_directory", "path": "/srv/site"}
    before, state = start(), changed(add)
    assert state.permission_context.working_directories["/srv/site"].path == "/srv/site"
    assert widening(before.permission_context, state.permission_context)
    assert changed(add, state=state) == state
    gone = changed({"op": "remove_working_directory", "path": "/srv/site"}, state=state)
    assert gone.permission_context == before.permission_context
    assert not widening(state.permission_context, gone.permission_context)
    missing = refused({"op": "remove_working_directory", "path": "/srv/site"})
    assert "/srv/site" in missing.detail
    for wrong in ("", " ", "a\0b", "x" * 5000):
        assert refused({**add, "path": wrong}).path == "path"


def test_fields_that_are_looked_up_cannot_be_sent() -> None:
    for name, field in (
        ("decide_requirement", "decided_by"),
        ("activate_tool_groups", "known"),
        ("redact_message", "in_history"),
        ("compact", "summary"),
    ):
        with pytest.raises(InvalidOperation) as caught:
            OPERATIONS[name].check_sent({"op": name, field: "x"}, 1)
        assert (caught.value.index, caught.value.path) == (1, field)
