"""Versions over HTTP: the list, two beside each other, a fork, and the state that one holds."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from sessions_app.models import AgentThread
from tests.api.conftest import As, Caller, problem
from tests.sessions.conftest import make_thread, say

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}
RESTORE = {"op": "restore", "version": 1}


def body(answer: HttpResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def update(operator: Caller, thread: AgentThread, *operations: dict[str, Any]) -> Any:
    wanted = {"reason": "wrong turn", "operations": list(operations)}
    return body(operator.patch(f"/threads/{thread.id}/state", wanted))


def test_versions_are_listed_with_who_when_why_and_how_much(
    operator: Caller, thread: AgentThread
) -> None:
    update(operator, thread, CLEAR)
    update(operator, thread, RESTORE)
    page = body(operator.get(f"/threads/{thread.id}/checkpoints", limit=2))
    newest, cleared = page["items"]
    assert page["next_cursor"] == "2"
    assert (newest["version"], newest["kind"], newest["source_version"]) == (3, "restore", 1)
    assert (newest["actor"], newest["reason"]) == (
        "operator",
        "restore of version 1: wrong turn",
    )
    assert (newest["messages"], newest["messages_delta"]) == (4, 4)
    assert newest["bytes"] > 0
    assert (cleared["kind"], cleared["title"]) == ("edit", "Working context cleared")
    rest = body(operator.get(f"/threads/{thread.id}/checkpoints", cursor=page["next_cursor"]))
    assert [item["version"] for item in rest["items"]] == [1]
    assert rest["next_cursor"] is None


def test_two_versions_are_compared_message_by_message(
    operator: Caller, thread: AgentThread
) -> None:
    update(operator, thread, CLEAR)
    found = body(operator.get(f"/threads/{thread.id}/diff", **{"from": 1, "to": 2}))
    assert (found["from"]["version"], found["to"]["version"]) == (1, 2)
    assert [message["change"] for message in found["messages"]] == ["removed"] * 4
    first = found["messages"][0]
    assert first["before"]["content"][0]["text"] == "one"
    assert (first["after"], first["before_index"], first["after_index"]) == (None, 0, None)
    assert found["diff"]["messages"]["before"] == 4
    assert found["effects"] == [
        "4 messages leave the working context; history keeps them.",
    ]
    assert body(operator.get(f"/threads/{thread.id}/diff", **{"from": 2, "to": 2}))["equal"]
    assert body(operator.get(f"/threads/{thread.id}/diff")) == found


def test_a_comparison_names_long_messages_without_repeating_them(
    operator: Caller, thread: AgentThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.version_schemas.MOST_TOKENS", 15)
    found = body(operator.get(f"/threads/{thread.id}/diff", **{"from": 0, "to": 1}))
    assert ["after" in message for message in found["messages"]] == [True, True, False, False]


def test_two_threads_are_compared(operator: Caller, thread: AgentThread, caller: As) -> None:
    other = make_thread()
    say(other, "one")
    found = body(operator.get(f"/threads/{thread.id}/diff", other=str(other.id)))
    assert found["to"]["thread_id"] == str(other.id)
    hidden = operator.get(f"/threads/{thread.id}/diff", other=str(thread.session_id))
    assert problem(hidden)[:2] == (404, "not_found")


@pytest.mark.parametrize("query", [{"from": 9}, {"to": 9}, {"from": 10**30}])
def test_a_version_that_is_not_there_is_404(
    operator: Caller, thread: AgentThread, query: dict[str, int]
) -> None:
    answer = operator.get(f"/threads/{thread.id}/diff", **query)
    assert problem(answer)[:2] == (404, "not_found")


@pytest.mark.parametrize("query", [{"from": -1}, {"to": "x"}])
def test_what_is_no_version_is_refused(
    operator: Caller, thread: AgentThread, query: dict[str, Any]
) -> None:
    assert operator.get(f"/threads/{thread.id}/diff", **query).status_code in {404, 422}


def test_reading_versions_of_others_is_audited(operator: Caller, thread: AgentThread) -> None:
    operator.get(f"/threads/{thread.id}/checkpoints")
    operator.get(f"/threads/{thread.id}/diff")
    later.flush()
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"threads.read_checkpoints", "threads.read_state"} <= actions


def test_a_stranger_finds_no_versions(caller: As, thread: AgentThread) -> None:
    stranger = caller("stranger")
    for path in ("checkpoints", "diff", "state"):
        assert problem(stranger.get(f"/threads/{thread.id}/{path}"))[:2] == (404, "not_found")
    session = f"/sessions/{thread.session_id}/fork"
    assert problem(stranger.post(session, {"reason": "x"}))[:2] == (404, "not_found")
    refused = caller("viewer").post(session, {"reason": "x"})
    assert problem(refused)[:2] == (403, "forbidden")


def test_a_fork_answers_with_its_session(operator: Caller, thread: AgentThread) -> None:
    update(operator, thread, CLEAR)
    path = f"/sessions/{thread.session_id}/fork"
    wanted = {"version": 1, "session_id": "second", "reason": "again", "request_id": "r"}
    made = body(operator.post(path, wanted), 201)
    assert made["session_id"] == "second"
    [copy] = made["threads"]
    assert copy["forked_from"] == {"thread_id": str(thread.id), "version": 1}
    source = body(operator.get(f"/sessions/{thread.session_id}"))
    assert [each["id"] for each in source["forks"]] == [made["id"]]
    assert source["threads"][0]["forked_from"] is None
    assert body(operator.post(path, wanted), 201) == made
    state = body(operator.get(f"/threads/{copy['id']}/state"))["state"]
    assert (state["session_id"], len(state["context"])) == ("second", 4)


def test_a_fork_is_refused_by_name(operator: Caller, thread: AgentThread) -> None:
    path = f"/sessions/{thread.session_id}/fork"
    assert problem(operator.post(path, {}))[:2] == (400, "missing_reason")
    bad = operator.post(path, {"reason": "x", "version": 7})
    assert problem(bad) == (422, "invalid_input", "version")
    taken = operator.post(path, {"reason": "x", "session_id": thread.session.session_id})
    assert problem(taken)[:2] == (409, "session_exists")
    assert json.loads(taken.content)["session_id"] == str(thread.session_id)


def test_a_caller_is_spared_the_state_that_it_holds(operator: Caller, thread: AgentThread) -> None:
    path = f"/threads/{thread.id}/state"
    first = operator.get(path)
    assert first["ETag"] == '"v1"'
    for given in ('"v1"', 'W/"v1"', '"v0", "v1"', "*"):
        again = operator.send("GET", path, headers={"If-None-Match": given})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", '"v1"')
    update(operator, thread, CLEAR)
    changed = operator.send("GET", path, headers={"If-None-Match": '"v1"'})
    assert (changed.status_code, changed["ETag"]) == (200, '"v2"')
    old = operator.send("GET", f"{path}?version=1", headers={"If-None-Match": '"v1"'})
    assert old.status_code == 304
    missing = operator.send("GET", f"{path}?version=7", headers={"If-None-Match": '"v7"'})
    assert problem(missing)[:2] == (404, "not_found")


def test_a_state_that_was_never_committed_is_always_told(operator: Caller) -> None:
    path = f"/threads/{make_thread().id}/state"
    assert operator.send("GET", path, headers={"If-None-Match": '"v0"'}).status_code == 200


def test_a_version_is_exported_with_its_time(operator: Caller, thread: AgentThread) -> None:
    update(operator, thread, CLEAR)
    path = f"/sessions/{thread.session_id}/export"
    newest, first = operator.get(path), operator.get(path, version=1)
    assert (newest["Export-Version"], first["Export-Version"]) == ("2", "1")
    assert len(body(first)["context"]) == 4
    state = body(operator.get(f"/threads/{thread.id}/state", version=1))
    assert first["Export-As-Of"] == state["as_of"]
    assert problem(operator.get(path, version=9))[:2] == (404, "not_found")
