"""Every operation of `updateAgentState` through the API, by each kind of caller."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from agentadmin.access.services import create_user
from agentadmin.engine.errors import ModelError
from agentadmin.engine.state.mutations import OPERATIONS
from sessions_app.models import AgentThread
from sessions_app.selectors.threads import state_at
from tests.api.conftest import PASSWORD, SYSTEM, As, Caller, problem
from tests.sessions.conftest import make_thread, say

pytestmark = pytest.mark.django_db

RULE = {"behavior": "deny", "tool_name": "execute", "source": "session"}
DIRECTORY = {"op": "add_working_directory", "path": "/srv/site"}
TASK = {"op": "begin_task", "objective": "ship", "requirements": [{"id": "r1", "text": "a"}]}
PATCH = [{"op": "replace", "path": "/summary", "value": "patched"}]

# Each operation with what has to go before it, and the key of the difference that it makes.
CASES: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "clear_context": ([], {}, "messages"),
    "set_summary": ([], {"summary": "short"}, "summary"),
    "compact": ([], {"keep_messages": 1}, "summary"),
    "set_permission_mode": ([], {"mode": "explore"}, "permission"),
    "add_rule": ([], RULE, "permission"),
    "remove_rule": ([{"op": "add_rule", **RULE}], RULE, "permission"),
    "add_working_directory": ([], {"path": "/srv/site"}, "permission"),
    "remove_working_directory": ([DIRECTORY], {"path": "/srv/site"}, "permission"),
    "enter_plan_mode": ([], {}, "plan"),
    "exit_plan_mode": ([{"op": "enter_plan_mode"}], {}, "plan"),
    "set_todos": ([], {"todos": [{"content": "a"}], "revision": 0}, "tasks"),
    "begin_task": ([], TASK, "tasks"),
    "decide_requirement": ([TASK], {"id": "r1", "decision": "confirm"}, "tasks"),
    "set_subject_version": ([], {"subject_version": "sha-1"}, "tasks"),
    "activate_tool_groups": ([], {"groups": []}, ""),
    "redact_message": ([], {"message_id": "<first>", "replacement": "[gone]"}, "messages"),
    "restore": ([{"op": "clear_context"}], {"version": 1}, "messages"),
    "json_patch": ([], {"patch": PATCH}, "summary"),
}
ADMIN_ONLY = {"json_patch"}


@pytest.fixture
def people(people: dict[str, User]) -> dict[str, User]:
    admin = create_user(actor=SYSTEM, name="ada", password=PASSWORD, role="admin", namespace="*")
    return {**people, "admin": admin}


def operation(name: str, thread: AgentThread) -> dict[str, Any]:
    fields = {"op": name, **CASES[name][1]}
    if fields.get("message_id") == "<first>":
        fields["message_id"] = state_at(thread).state.context[0].id
    return fields


def send(client: Caller, thread: AgentThread, *operations: Any, **given: Any) -> HttpResponse:
    wanted = {"reason": "because", "operations": list(operations), **given}
    return client.patch(f"/threads/{thread.id}/state", wanted)


def done(answer: HttpResponse) -> Any:
    assert answer.status_code == 200, answer.content
    return json.loads(answer.content)


def test_every_operation_is_tried() -> None:
    assert CASES.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("name", CASES)
def test_who_may_does_it_and_everybody_else_does_nothing(
    name: str, caller: As, thread: AgentThread
) -> None:
    admin = caller("admin")
    before, _, key = CASES[name]
    if before:
        done(send(admin, thread, *before))
    wanted = operation(name, thread)
    version = state_at(thread).version

    assert problem(send(caller("viewer"), thread, wanted))[:2] == (403, "forbidden")
    assert problem(send(caller("stranger"), thread, wanted))[:2] == (404, "not_found")
    if name in ADMIN_ONLY:
        refused = send(caller("operator"), thread, wanted)
        assert json.loads(refused.content)["permission"] == OPERATIONS[name].permission
    rehearsed = done(send(admin, thread, wanted, dry_run=True))
    assert rehearsed["dry_run"]
    assert state_at(thread).version == version

    found = done(send(admin if name in ADMIN_ONLY else caller("operator"), thread, wanted))
    assert found["diff"].keys() == rehearsed["diff"].keys()
    assert found["audit_id"]
    if key:
        assert key in found["diff"]
        assert found["effects"]
        assert found["version"] == version + 1 == state_at(thread).version
    unknown = send(admin, thread, {**wanted, "surprise": 1})
    assert problem(unknown) == (422, "invalid_operation", "surprise")


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"op": "add_working_directory", "path": ""}, "path"),
        ({"op": "remove_working_directory", "path": "/nowhere"}, "path"),
        ({"op": "set_todos", "todos": [{"content": ""}]}, "todos[0].content"),
        ({"op": "begin_task"}, "objective"),
        ({"op": "decide_requirement", "id": "x", "decision": "confirm"}, "id"),
        ({"op": "decide_requirement", "id": "x", "decision": "confirm", "decided_by": "me"}, "dec"),
        ({"op": "set_subject_version"}, "subject_version"),
        ({"op": "activate_tool_groups", "groups": ["no-such"]}, "groups[0]"),
        ({"op": "redact_message", "message_id": "no-such"}, "message_id"),
        ({"op": "compact", "keep_messages": 4}, "op"),
        ({"op": "compact", "keep_messages": -1}, "keep_messages"),
        ({"op": "compact", "summary": "mine"}, "summary"),
        ({"op": "json_patch", "patch": [{"op": "remove", "path": "/x"}]}, "patch[0].path"),
    ],
)
def test_a_wrong_operation_is_named_by_index_and_path_and_undoes_the_others(
    wrong: dict[str, Any], path: str, caller: As, thread: AgentThread
) -> None:
    refused = send(caller("admin"), thread, {"op": "enter_plan_mode"}, wrong)
    status, code, told = problem(refused)
    assert (status, code) == (422, "invalid_operation")
    assert (told or "").startswith(path)
    assert json.loads(refused.content)["index"] == 1
    assert not state_at(thread).state.plan_mode_context.plan_active


def test_compacting_by_hand_condenses_what_leaves(operator: Caller, thread: AgentThread) -> None:
    found = done(send(operator, thread, {"op": "compact"}))
    state = state_at(thread).state
    assert state.summary == "Summary of 2 messages."
    assert [message.text for message in state.context] == ["three", "four"]
    assert "offline:demo has written the summary of what leaves." in found["effects"]
    whole = json.loads(operator.get(f"/threads/{thread.id}/transcript").content)["items"]
    assert [item["in_context"] for item in whole] == [False, False, True, True]


def test_an_agent_that_nobody_has_defined_writes_no_summary(operator: Caller) -> None:
    thread = make_thread(agent_id="unknown")
    say(thread, "one", "two")
    refused = send(operator, thread, {"op": "compact"})
    assert problem(refused) == (422, "invalid_operation", "op")
    assert "unknown is not defined" in json.loads(refused.content)["detail"]
    assert state_at(thread).version == 1
    groups = {"op": "activate_tool_groups", "groups": ["any"]}
    assert done(send(operator, thread, groups))["version"] == 2


def test_a_model_that_fails_changes_nothing(
    operator: Caller, thread: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.services.compacting.summarise", _fails)
    assert problem(send(operator, thread, {"op": "compact"}))[:2] == (502, "model_error")
    assert state_at(thread).version == 1


async def _fails(*_: object) -> str:
    raise ModelError("the provider is away", retryable=False)


def test_an_overtaken_revision_is_a_conflict(operator: Caller, thread: AgentThread) -> None:
    todos = {"op": "set_todos", "todos": [{"content": "a"}], "revision": 0}
    done(send(operator, thread, todos))
    refused = send(operator, thread, todos)
    assert problem(refused)[:2] == (409, "stale_tasks")
    assert json.loads(refused.content)["revision"] == 1


def test_a_requirement_is_decided_in_the_caller_s_name(
    operator: Caller, thread: AgentThread
) -> None:
    done(
        send(operator, thread, TASK, {"op": "decide_requirement", "id": "r1", "decision": "reject"})
    )
    [requirement] = state_at(thread).state.tasks_context.extra["requirements"]
    assert (requirement["status"], requirement["decided_by"]) == ("rejected", "operator")


def test_a_directory_and_a_patch_widen_only_with_the_scope(caller: As, thread: AgentThread) -> None:
    scopes = ["sessions:read", "permissions:edit", "sessions:patch"]
    patch = {"op": "add", "path": "/permission_context/working_directories/x"}
    patch["value"] = {"path": "/srv", "source": "s"}  # type: ignore[assignment]
    for wanted in (DIRECTORY, {"op": "json_patch", "patch": [patch]}):
        refused = send(caller("admin", scopes=scopes), thread, wanted)
        assert json.loads(refused.content)["permission"] == "permissions:widen"
        widening = caller("admin", scopes=[*scopes, "permissions:widen"])
        done(send(widening, thread, wanted))


def test_a_patch_needs_the_permissions_of_what_it_changes(caller: As, thread: AgentThread) -> None:
    client = caller("admin", scopes=["sessions:read", "sessions:patch"])
    wanted = {"op": "json_patch", "patch": PATCH}
    refused = send(client, thread, wanted)
    assert json.loads(refused.content)["permission"] == "sessions:edit_summary"
    free = {"op": "json_patch", "patch": [{"op": "add", "path": "/note", "value": 1}]}
    assert done(send(client, thread, free))["diff"]["extra"] == {
        "note": {"before": None, "after": 1}
    }


def test_a_change_of_mode_names_the_tools_that_no_rule_names(
    operator: Caller, thread: AgentThread
) -> None:
    found = done(send(operator, thread, {"op": "set_permission_mode", "mode": "explore"}))
    denied = next(line for line in found["effects"] if "create_order" in line)
    assert "will be denied on their next calls." in denied
    assert not any("“read_file”" in line and "denied" in line for line in found["effects"])
