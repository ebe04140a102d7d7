"""Each operation of the contract as a program uses it."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from sessions_app import mailbox
from sessions_app.models import AgentSession, AgentThread
from sessions_app.states import ControlKind
from tests.api.conftest import As, Caller, problem
from tests.engine.state import fixtures
from tests.sessions.holding import Held
from tests.sessions.people import OPERATOR

pytestmark = pytest.mark.django_db

CLEAR = {"op": "clear_context"}


def body(answer: HttpResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/json"
    return json.loads(answer.content)


def test_a_session_is_created_read_and_listed(operator: Caller) -> None:
    made = body(operator.post("/sessions", {"agent_id": "demo", "user_id": "alice"}), 201)
    [thread] = made["threads"]
    assert (thread["agent_id"], thread["thread_id"]) == ("demo", "main")
    assert body(operator.get(f"/sessions/{made['id']}")) == made
    [item] = body(operator.get("/sessions"))["items"]
    keys = {"id", "namespace", "agent_id", "user_id", "session_id", "status", "threads"}
    assert keys | {"updated_at", "tokens", "pending"} <= item.keys()
    whole = body(operator.get(f"/threads/{thread['id']}"))
    assert whole["session"]["id"] == made["id"]
    assert (whole["version"], whole["head_seq"], whole["lease"]) == (0, 0, None)
    assert set(whole["context"]) == {"messages", "tokens", "window"}


def test_a_taken_identity_is_409_with_its_id(operator: Caller) -> None:
    made = body(operator.post("/sessions", {"agent_id": "demo", "session_id": "s"}), 201)
    again = operator.post("/sessions", {"agent_id": "demo", "session_id": "s"})
    assert problem(again)[:2] == (409, "session_exists")
    assert json.loads(again.content)["session_id"] == made["id"]


def test_creating_with_a_request_id_happens_once(operator: Caller) -> None:
    wanted = {"agent_id": "demo", "request_id": "r"}
    assert body(operator.post("/sessions", wanted), 201) == body(
        operator.post("/sessions", wanted), 201
    )
    assert AgentSession.objects.count() == 1
    other = operator.post("/sessions", {**wanted, "agent_id": "other"})
    assert problem(other)[:2] == (409, "idempotency_mismatch")


def test_a_bound_token_creates_for_its_own_user_only(caller: As) -> None:
    client = caller("operator", bound_user_id="alice")
    made = body(client.post("/sessions", {"agent_id": "demo", "user_id": "bob"}), 201)
    assert made["user_id"] == "alice"


def test_a_viewer_cannot_create_or_import(caller: As) -> None:
    viewer = caller("viewer")
    refused = viewer.post("/sessions", {"agent_id": "demo"})
    assert problem(refused)[:2] == (403, "forbidden")
    assert json.loads(refused.content)["permission"] == "sessions:create"
    assert problem(viewer.post("/sessions/import", {"state": {}}))[:2] == (403, "forbidden")


def test_a_state_carries_its_version_as_etag(operator: Caller, thread: AgentThread) -> None:
    answer = operator.get(f"/threads/{thread.id}/state")
    found = body(answer)
    assert answer["ETag"] == '"v1"'
    assert (found["version"], len(found["state"]["context"])) == (1, 4)
    body(operator.patch(f"/threads/{thread.id}/state", {"reason": "r", "operations": [CLEAR]}))
    assert body(operator.get(f"/threads/{thread.id}/state", version=1)) == found
    assert body(operator.get(f"/threads/{thread.id}/state"))["state"]["context"] == []


def test_an_update_answers_version_seq_audit_id_diff_and_effects(
    operator: Caller, thread: AgentThread
) -> None:
    done = body(
        operator.patch(f"/threads/{thread.id}/state", {"reason": "r", "operations": [CLEAR]})
    )
    assert {"version", "seq", "audit_id", "diff", "effects"} <= done.keys()
    entry = AuditEntry.objects.get(id=done["audit_id"])
    assert entry.actor == "operator"
    listed = body(operator.get("/audit", target=str(thread.id)))["items"]
    assert [item["id"] for item in listed] == [done["audit_id"]]
    assert body(operator.get("/audit/verify"))["ok"]


def test_widening_needs_the_scope_of_a_token(caller: As, thread: AgentThread) -> None:
    scopes = ["sessions:read", "permissions:edit"]
    client = caller("operator", scopes=scopes)
    rule = {"op": "add_rule", "behavior": "allow", "tool_name": "execute", "source": "session"}
    path = f"/threads/{thread.id}/state"
    refused = client.patch(path, {"reason": "r", "operations": [rule]})
    assert json.loads(refused.content)["permission"] == "permissions:widen"
    deny = {"reason": "r", "operations": [{**rule, "behavior": "deny"}]}
    assert body(client.patch(path, deny))["version"] == 2


def test_facts_have_the_shape_of_live_events(operator: Caller, thread: AgentThread) -> None:
    page = body(operator.get(f"/threads/{thread.id}/facts", limit=2))
    assert [item["seq"] for item in page["items"]] == [1, 2]
    event = page["items"][1]
    assert event["id"] == f"{thread.id}-2"
    assert event["type"] == "message/user"
    assert event["data"]["message"]["content"][0]["text"] == "one"
    rest = body(operator.get(f"/threads/{thread.id}/facts", after=page["next_cursor"]))
    assert [item["seq"] for item in rest["items"]] == [3, 4, 5]
    typed = body(operator.get(f"/threads/{thread.id}/facts", types="message/assistant,x"))
    assert [item["seq"] for item in typed["items"]] == [3, 5]


def test_a_transcript_leads_to_its_older_pages(operator: Caller, thread: AgentThread) -> None:
    path = f"/threads/{thread.id}/transcript"
    page = body(operator.get(path, limit=3))
    assert [item["in_context"] for item in page["items"]] == [True] * 3
    older = body(operator.get(path, before=page["next_cursor"], as_of=page["as_of"]))
    assert [item["message"]["content"][0]["text"] for item in older["items"]] == ["one"]


def test_a_java_state_goes_in_and_comes_out_equal(operator: Caller) -> None:
    given = fixtures.document("agent_state_full.json")
    wanted = {"state": given, "session_id": "mine"}
    made = body(operator.post("/sessions/import", wanted), 201)
    assert (made["session_id"], made["user_id"]) == ("mine", "alice")
    path = f"/sessions/{made['id']}/export"
    assert body(operator.get(path, format="agentscope-java")) == given
    assert problem(operator.get(path, format="yaml"))[:2] == (422, "invalid_input")
    assert body(operator.get(path, format="agentscope-python"))["session_id"] == "s-001"


def test_numbers_and_characters_survive_the_wire(operator: Caller) -> None:
    text = '{"state":{"session_id":"s","big":%s,"odd":"\\u0000\\ud800","z":1,"a":-0.0}}' % (
        "9" * 30
    )
    made = body(operator.post("/sessions/import", text), 201)
    raw = operator.get(f"/sessions/{made['id']}/export").content.decode()
    for kept in ("9" * 30, '"odd":"\\u0000\\ud800"', '"z":1,"a":-0.0'):
        assert kept in raw


def test_a_wrong_field_of_a_state_is_named_from_the_body(operator: Caller) -> None:
    wrong = {"state": {"session_id": "s", "context": [{"role": "USER", "content": "hi"}]}}
    assert problem(operator.post("/sessions/import", wrong)) == (
        422,
        "invalid_document",
        "state.context[0].content",
    )


def test_a_control_shows_its_times(operator: Caller, thread: AgentThread) -> None:
    control = mailbox.request_control(
        thread=thread, kind=ControlKind.INTERRUPT, actor=OPERATOR, reason="stop"
    )
    found = body(operator.get(f"/controls/{control.id}"))
    assert (found["kind"], found["state"]) == ("interrupt", "requested")
    assert set(found["times"]) == {"requested", "delivered", "acknowledged", "effective"}


def test_reads_and_refusals_are_audited(caller: As, thread: AgentThread) -> None:
    caller("viewer").get(f"/threads/{thread.id}/state")
    caller("stranger").get(f"/threads/{thread.id}/state")
    read, hidden = later.discard()
    assert (read.action, str(read.outcome)) == ("threads.read_state", "allowed")
    assert (str(hidden.outcome), hidden.target.id) == ("denied", str(thread.id))


def test_a_control_that_took_effect_names_its_audit_entry(
    operator: Caller, thread: AgentThread
) -> None:
    held = Held(thread)
    edit = {"op": "set_permission_mode", "mode": "explore"}
    wanted = {"reason": "why not", "operations": [edit], "on_busy": "wait"}
    asked = body(operator.patch(f"/threads/{thread.id}/state", wanted), 202)
    path = f"/controls/{asked['control_id']}"
    assert body(operator.get(path))["result"] == {}
    held.between_steps()
    found = body(operator.get(path))
    assert found["state"] == "effective"
    assert found["result"]["audit_id"] == str(AuditEntry.objects.get(action="state.update").id)


def test_nobody_is_asked_to_sign_in() -> None:
    for path in ("/sessions", "/audit", "/controls/x"):
        assert problem(Client().get(f"/api/v1{path}"))[:2] == (401, "not_authenticated")


def test_the_documentation_needs_no_script_and_names_every_operation(db: None) -> None:
    schema = json.loads(Client().get("/api/v1/openapi.json").content)
    names = [o["operationId"] for item in schema["paths"].values() for o in item.values()]
    assert len(set(names)) == len(names)
    page = Client().get("/api/v1/docs").content.decode()
    for name in names:
        assert f'id="{name}"' in page
    assert "cdn" not in page
