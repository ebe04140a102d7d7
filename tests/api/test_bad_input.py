"""The issue's list of bad input: a clear 4xx that names the field, nothing changed, no 500."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from agentadmin.access.models import ApiToken
from agentadmin.engine.clock import now
from sessions_app.models import AgentSession, AgentThread
from tests.api.conftest import As, Caller, problem

pytestmark = pytest.mark.django_db

CLEAR = [{"op": "clear_context"}]
GOOD = {"reason": "why not", "operations": CLEAR}
ROWS = ["/sessions/{}", "/threads/{}", "/threads/{}/state", "/controls/{}"]
LISTS = ["/sessions", "/threads/{}/facts", "/threads/{}/transcript", "/audit"]
ODD_IDS = ["a/b", "what?", "a#b", "..", "🙂", "<script>alert(1)</script>", "' OR 1=1 --", "日本語"]


@pytest.fixture
def state(thread: AgentThread) -> str:
    return f"/threads/{thread.id}/state"


def untouched(thread: AgentThread) -> bool:
    thread.refresh_from_db()
    return (thread.version, thread.head_seq) == (1, 5)


@pytest.mark.parametrize(
    "body", ["", "{", '{"a":1', "[1,2", "nope", "\0", '{"a":1}}', b"\xff\xfe", '{"a":1e999}']
)
def test_malformed_json_is_refused(
    operator: Caller, thread: AgentThread, state: str, body: str | bytes
) -> None:
    status, code, _ = problem(operator.patch(state, body))
    assert status == 422
    assert code in {"invalid_document", "invalid_input"}
    assert untouched(thread)


@pytest.mark.parametrize("body", ["[]", "5", "null", '"text"', "true"])
def test_a_body_that_is_no_object_is_refused(operator: Caller, state: str, body: str) -> None:
    assert problem(operator.patch(state, body))[:2] == (422, "invalid_input")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"reason": 5}, "reason"),
        ({"expected_version": "1"}, "expected_version"),
        ({"expected_version": -1}, "expected_version"),
        ({"expected_version": 1.5}, "expected_version"),
        ({"expected_version": True}, "expected_version"),
        ({"on_busy": "now"}, "on_busy"),
        ({"on_busy": None}, "on_busy"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"dry_run": 1}, "dry_run"),
        ({"request_id": 7}, "request_id"),
        ({"request_id": ""}, "request_id"),
        ({"request_id": "x" * 257}, "request_id"),
        ({"request_id": "a\0b"}, "request_id"),
        ({"operations": 5}, "operations"),
        ({"operations": []}, "operations"),
        ({"operations": [5]}, None),
        ({"operations": [{"op": "nope"}]}, "op"),
        ({"operations": [{"op": "set_permission_mode", "mode": 7}]}, "mode"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_types_are_named(
    operator: Caller, thread: AgentThread, state: str, change: dict[str, Any], path: str | None
) -> None:
    status, _, named = problem(operator.patch(state, {**GOOD, **change}))
    assert (status, named) == (422, path)
    assert untouched(thread)


def test_an_unknown_operation_is_named_by_index_and_path(operator: Caller, state: str) -> None:
    body = {**GOOD, "operations": [*CLEAR, {"op": "launch"}]}
    document = json.loads(operator.patch(state, body).content)
    assert (document["code"], document["index"], document["path"]) == ("invalid_operation", 1, "op")


def test_a_missing_reason_is_400(operator: Caller, state: str) -> None:
    for body in ({"operations": CLEAR}, {**GOOD, "reason": "  "}, {**GOOD, "reason": None}):
        assert problem(operator.patch(state, body)) == (400, "missing_reason", "reason")


@pytest.mark.parametrize("field", ["agent_id", "user_id", "session_id", "namespace"])
@pytest.mark.parametrize("value", ["", "  ", "x" * 257, "a\0b", "\u202e", "\u200b", "\ud800", 5])
def test_ids_that_nobody_could_see_are_refused(operator: Caller, field: str, value: Any) -> None:
    answer = operator.post("/sessions", {"agent_id": "demo", field: value})
    assert (answer.status_code, problem(answer)[2]) == (422, field)
    assert not AgentSession.objects.exists()


@pytest.mark.parametrize("id_", ODD_IDS)
def test_odd_but_visible_ids_work_everywhere(operator: Caller, id_: str) -> None:
    body = {"agent_id": id_, "user_id": id_, "session_id": id_}
    made = json.loads(operator.post("/sessions", body).content)
    [thread] = made["threads"]
    assert (made["session_id"], made["user_id"], thread["agent_id"]) == (id_, id_, id_)
    for query in (
        {"session_id": id_},
        {"user_id": id_},
        {"agent_id": id_},
        {"q": id_.split(maxsplit=1)[0]},
    ):
        found = json.loads(operator.get("/sessions", **query).content)
        assert [item["id"] for item in found["items"]] == [made["id"]]
    assert operator.get(f"/threads/{thread['id']}").status_code == 200
    assert operator.get(f"/threads/{quote(id_, safe='')}").status_code == 404


@pytest.mark.parametrize(
    "id_", ["x", "%00", "..%2f..", "0" * 300, "%F0%9F%99%82", "-", "%3Cscript%3E"]
)
@pytest.mark.parametrize(
    "path", ["/sessions/{}", "/threads/{}", "/threads/{}/state", "/controls/{}"]
)
def test_ids_of_no_row_are_404(operator: Caller, path: str, id_: str) -> None:
    assert operator.get(path.format(id_)).status_code == 404


@pytest.mark.parametrize("version", ["-1", "2", "2147483648", str(2**63), "9" * 30])
def test_a_version_that_never_was_is_not_found(
    operator: Caller, thread: AgentThread, state: str, version: str
) -> None:
    assert problem(operator.get(state, version=version))[:2] == (404, "not_found")


@pytest.mark.parametrize("limit", ["-1", "0", "201", "999999999999999999999", "ten", "1.5", ""])
@pytest.mark.parametrize(
    "path", ["/sessions", "/threads/{}/facts", "/threads/{}/transcript", "/audit"]
)
def test_limits_out_of_range_are_refused(
    operator: Caller, thread: AgentThread, path: str, limit: str
) -> None:
    answer = operator.get(path.format(thread.id), limit=limit)
    assert problem(answer) == (422, "invalid_input", "limit")


@pytest.mark.parametrize("name", ["after", "before", "as_of", "version"])
@pytest.mark.parametrize("value", ["-1", "x", "9" * 30, "9" * 5000, ""])
def test_numbers_out_of_range_never_break_a_read(
    operator: Caller, thread: AgentThread, name: str, value: str
) -> None:
    path = {"after": "facts", "version": "state"}.get(name, "transcript")
    answer = operator.get(f"/threads/{thread.id}/{path}", **{name: value})
    if value == "9" * 30:
        assert answer.status_code == (404 if name == "version" else 200)
    else:
        assert answer.status_code in {404, 422}
        assert problem(answer)[2] in {name, None}


@pytest.mark.parametrize("cursor", ["x", "1.x", "99999999999999999999999.0", "..", "\0", "🙂"])
@pytest.mark.parametrize("path", ["/sessions", "/audit"])
def test_malformed_cursors_are_refused(operator: Caller, path: str, cursor: str) -> None:
    assert problem(operator.get(path, cursor=cursor))[:2] == (400, "bad_cursor")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/sessions", {"q": "a\0b"}),
        ("/sessions", {"user_id": "\0"}),
        ("/sessions", {"session_id": "\0"}),
        ("/sessions", {"agent_id": "\0"}),
        ("/sessions", {"status": "busy"}),
        ("/threads/{}/facts", {"types": "\0"}),
        ("/threads/{}/facts", {"run_id": "\0"}),
        ("/threads/{}/facts", {"turn_id": "\0"}),
    ],
)
def test_queries_that_no_database_takes_are_refused(
    operator: Caller, thread: AgentThread, path: str, query: dict[str, str]
) -> None:
    status, code, named = problem(operator.get(path.format(thread.id), **query))
    assert (status, code, named) == (422, "invalid_input", next(iter(query)))


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "text/html", "", "x"]
)
def test_other_content_types_are_415(
    operator: Caller, thread: AgentThread, state: str, content_type: str
) -> None:
    answer = operator.patch(state, GOOD, content_type=content_type)
    assert problem(answer)[:2] == (415, "unsupported_media_type")
    assert untouched(thread)


def test_json_with_a_charset_is_json(operator: Caller, state: str) -> None:
    answer = operator.patch(state, GOOD, content_type="application/json; charset=utf-8")
    assert answer.status_code == 200


def test_depth_has_a_limit_that_names_the_field(operator: Caller, thread: AgentThread) -> None:
    deep = '{"a":"[[[","state":{"x":' + "[" * 1000 + "]" * 1000 + "}}"
    assert problem(operator.post("/sessions/import", deep)) == (422, "too_deep", "state")
    allowed = '{"state":{"session_id":"deep","x":' + "[" * 997 + "]" * 997 + "}}"
    assert operator.post("/sessions/import", allowed).status_code == 201


def test_size_has_a_limit(operator: Caller, state: str) -> None:
    huge = b'{"reason":"' + b"x" * (32 * 1024 * 1024) + b'"}'
    assert problem(operator.patch(state, huge)) == (413, "too_large", "body")


def test_a_stranger_finds_nothing_and_a_viewer_may_not_write(
    caller: As, thread: AgentThread, state: str
) -> None:
    stranger, viewer = caller("stranger"), caller("viewer")
    for path in (f"/threads/{thread.id}", state, f"/threads/{thread.id}/transcript"):
        assert problem(stranger.get(path))[:2] == (404, "not_found")
        assert viewer.get(path).status_code == 200
    assert problem(stranger.patch(state, GOOD))[:2] == (404, "not_found")
    refused = viewer.patch(state, GOOD)
    assert problem(refused)[:2] == (403, "forbidden")
    assert json.loads(refused.content)["permission"] == "sessions:clear"
    assert untouched(thread)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
def test_unknown_methods_and_paths_are_problems(operator: Caller, state: str, method: str) -> None:
    assert problem(operator.send(method, state, GOOD))[:2] == (405, "method_not_allowed")
    assert problem(operator.get("/nothing/here"))[:2] == (404, "not_found")


def test_expired_tokens_are_refused_by_name(caller: As, state: str) -> None:
    client = caller("operator")
    ApiToken.objects.update(expires_at=now())
    assert problem(client.patch(state, GOOD))[:2] == (401, "token_expired")


def test_two_tabs_editing_the_same_version(operator: Caller, state: str) -> None:
    rule = {"op": "add_rule", "behavior": "deny", "tool_name": "execute", "source": "session"}
    first = {"reason": "tab one", "operations": [rule], "expected_version": 1}
    assert operator.patch(state, first).status_code == 200
    second = operator.patch(state, {**GOOD, "expected_version": 1})
    assert problem(second)[:2] == (409, "stale_version")
    document = json.loads(second.content)
    assert document["current_version"] == 2
    assert document["diff"]["permission"]["rules_added"]


def test_a_reused_request_id_with_another_body(operator: Caller, state: str) -> None:
    body = {**GOOD, "request_id": "once"}
    first = operator.patch(state, body)
    again = operator.patch(state, body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    other = operator.patch(state, {**body, "reason": "another one"})
    assert problem(other)[:2] == (409, "idempotency_mismatch")
