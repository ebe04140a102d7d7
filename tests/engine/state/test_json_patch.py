"""RFC 6902 on a state: what it changes, what it refuses by the place, what it needs."""

from __future__ import annotations

from typing import Any

import pytest

from agentadmin.engine.errors import InvalidInput, InvalidOperation
from agentadmin.engine.messages import user_message
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.json_patch import patched
from agentadmin.engine.state.mutations import OPERATIONS, apply
from tests.engine.state.asking import NOW

JSON_PATCH = OPERATIONS["json_patch"]


def start() -> AgentState:
    state = AgentState.new("s-1", "alice")
    state.set_context([user_message("one"), user_message("two")])
    state.extra = {"note": {"a": [1, 2]}}
    return state


def patch(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"op": "json_patch", "patch": list(steps)}


def refused(*steps: Any, state: AgentState | None = None) -> InvalidOperation:
    with pytest.raises(InvalidOperation) as caught:
        apply(state or start(), patch(*steps), now=NOW, index=2)
    assert caught.value.index == 2
    return caught.value


@pytest.mark.parametrize(
    ("document", "steps", "result"),
    [
        ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"a": [1]}, [{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
        ({"a": 1}, [{"op": "replace", "path": "/a", "value": None}], {"a": None}),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": {"b": 1}}, [{"op": "move", "from": "/a/b", "path": "/c"}], {"a": {}, "c": 1}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a/b": {"~": 1}}, [{"op": "remove", "path": "/a~1b/~0"}], {"a/b": {}}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": 7}], 7),
        ({"a": {"x": 1, "y": 2}}, [{"op": "test", "path": "/a", "value": {"y": 2, "x": 1}}], None),
    ],
)
def test_each_step_does_what_the_standard_says(document: Any, steps: Any, result: Any) -> None:
    given = {**document}
    found = patched(document, steps)
    assert found == (given if result is None else result)


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({"op": "add", "path": "/x/y", "value": 1}, "patch[0].path"),
        ({"op": "remove", "path": "/nothing"}, "patch[0].path"),
        ({"op": "remove", "path": ""}, "patch[0].path"),
        ({"op": "remove", "path": "no/slash"}, "patch[0].path"),
        ({"op": "remove", "path": "/a~2"}, "patch[0].path"),
        ({"op": "remove"}, "patch[0].path"),
        ({"op": "add", "path": "/context/9", "value": {}}, "patch[0].path"),
        ({"op": "add", "path": "/context/01", "value": {}}, "patch[0].path"),
        ({"op": "add", "path": "/summary/x", "value": {}}, "patch[0].path"),
        ({"op": "add", "path": "/note"}, "patch[0].value"),
        ({"op": "test", "path": "/cur_iter", "value": False}, "patch[0].value"),
        ({"op": "copy", "path": "/a"}, "patch[0].from"),
        ({"op": "move", "from": "/note", "path": "/note/a"}, "patch[0].path"),
        ({"op": "push", "path": "/a"}, "patch[0].op"),
        ({"op": ["add"], "path": "/a"}, "patch[0].op"),
        ({"op": "add", "path": "/a", "value": 1, "why": "x"}, "patch[0].why"),
        ("add", "patch[0]"),
    ],
)
def test_a_wrong_step_is_named(step: Any, path: str) -> None:
    assert refused(step).path == path


def test_a_patch_changes_any_part_and_leaves_the_given_state_alone() -> None:
    before = start()
    same = start()
    same.set_context(before.context)
    same.reply_id = before.reply_id
    after = apply(
        before,
        patch(
            {"op": "replace", "path": "/summary", "value": "short"},
            {"op": "replace", "path": "/context/0/content/0/text", "value": "ONE"},
            {"op": "add", "path": "/note/a/-", "value": 3},
            {"op": "replace", "path": "/permission_context/mode", "value": "explore"},
        ),
        now=NOW,
    )
    assert (after.summary, after.context[0].text, after.context[1]) == (
        "short",
        "ONE",
        before.context[1],
    )
    assert after.extra == {"note": {"a": [1, 2, 3]}}
    assert after.permission_context.mode == "explore"
    assert before == same


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({"op": "replace", "path": "/permission_context/mode", "value": "x"}, "permission_context"),
        ({"op": "add", "path": "/context/0", "value": {"role": 5}}, "context[0]"),
        ({"op": "replace", "path": "", "value": []}, "patch"),
        ({"op": "replace", "path": "/session_id", "value": "other"}, "session_id"),
        ({"op": "remove", "path": "/session_id"}, "session_id"),
        ({"op": "add", "path": "/thread_id", "value": "other"}, "thread_id"),
    ],
)
def test_the_result_must_be_a_state_of_the_same_thread(step: Any, path: str) -> None:
    assert refused(step).path.startswith(path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test reaches at once."""
    monkeypatch.setattr("agentadmin.engine.state.json_patch.MAX_CHARACTERS", 4_000)


@pytest.mark.usefixtures("small")
def test_copies_of_copies_are_refused_before_they_fill_the_memory() -> None:
    double = {"op": "copy", "from": "/note/a", "path": "/note/a/-"}
    error = refused(*[double] * 60)
    assert (error.detail, error.path) == (
        "the copies of a patch may add at most 32 MB",
        "patch[9].from",
    )


@pytest.mark.usefixtures("small")
def test_a_patch_may_not_make_a_state_larger_than_a_document_may_be() -> None:
    state = start()
    state.summary = "x" * 2_000
    assert refused({"op": "copy", "from": "/summary", "path": "/again"}, state=state)
    state.summary = "x" * 5_000
    assert apply(state, patch({"op": "remove", "path": "/note"}), now=NOW).extra == {}


def test_a_patch_that_nests_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(1200):
        deep = [deep]
    assert refused({"op": "add", "path": "/note", "value": deep}).path.startswith("patch")


@pytest.mark.parametrize("given", [None, {}, [], "x", [{}] * 1001])
def test_a_patch_is_an_array_of_steps(given: Any) -> None:
    with pytest.raises(InvalidInput):
        apply(start(), {"op": "json_patch", "patch": given}, now=NOW)
    with pytest.raises(InvalidOperation):
        apply(start(), {"op": "json_patch"}, now=NOW)


def test_a_patch_touches_only_the_parts_that_it_names() -> None:
    touched = JSON_PATCH.touches(
        patch(
            {"op": "test", "path": "/context/0", "value": 1},
            {"op": "copy", "from": "/context/0", "path": "/note/x"},
            {"op": "move", "from": "/summary", "path": "/tasks_context/y"},
        )
    )
    assert touched == {"note", "summary", "tasks_context"}
    assert "context" in JSON_PATCH.touches(patch({"op": "replace", "path": "", "value": {}}))
    assert "context" in JSON_PATCH.touches({"op": "json_patch", "patch": [{"op": "add"}]})


def test_a_patch_needs_the_permissions_of_what_it_changes() -> None:
    before = start()
    mode = patch({"op": "replace", "path": "/permission_context/mode", "value": "explore"})
    assert JSON_PATCH.needed(before, apply(before, mode, now=NOW)) == {"permissions:edit"}
    note = patch({"op": "remove", "path": "/note"})
    assert JSON_PATCH.needed(before, apply(before, note, now=NOW)) == frozenset()
