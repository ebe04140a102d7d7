"""Turns, runs and questions over HTTP: shapes, refusals, lists."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from runs_app.models import Run
from runs_app.selectors.interactions import open_interactions
from runs_app.services.submit import submit_turn
from runs_app.states import TurnState
from sessions_app.journal import configured
from sessions_app.models import AgentThread
from tests.runs.conftest import Work, turn_of

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery staple"


class Caller:
    """A program with a token."""

    def __init__(self, secret: str) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {secret}"})

    def get(self, path: str, status: int = 200) -> Any:
        return self._told(self._client.get(f"/api/v1{path}"), status)

    def post(self, path: str, body: Any, status: int = 202) -> Any:
        data = json.dumps(body)
        answer = self._client.post(f"/api/v1{path}", data, content_type="application/json")
        return self._told(answer, status)

    def _told(self, answer: Any, status: int) -> Any:
        assert answer.status_code == status, answer.content
        return json.loads(answer.content)


def caller(role: str, namespace: str = "*") -> Caller:
    system = Actor.system("tests")
    name = f"{role}-{namespace.strip('*')}"
    user = create_user(actor=system, name=name, password=PASSWORD, role=role, namespace=namespace)
    return Caller(create_token(actor=system, user=user).secret)


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    later.discard()
    yield
    later.discard()


@pytest.fixture
def operator() -> Caller:
    return caller("operator")


def test_a_turn_is_submitted_once_per_request_id(
    operator: Caller, thread: AgentThread, work: Work
) -> None:
    body = {"request_id": "r", "input": "/echo hi"}
    first = operator.post(f"/threads/{thread.id}/turns", body)
    assert first == {
        "turn_id": first["turn_id"],
        "state": "queued",
        "revision": 1,
        "position": 0,
        "duplicate": False,
    }
    assert operator.post(f"/threads/{thread.id}/turns", body) == {**first, "duplicate": True}
    told = operator.post(f"/threads/{thread.id}/turns", {**body, "input": "other"}, 409)
    assert told["code"] == "idempotency_mismatch"
    work(thread)
    turn = operator.get(f"/turns/{first['turn_id']}")
    assert (turn["state"], turn["outcome"], turn["wait"]) == ("completed", "done", None)
    assert operator.get(f"/threads/{thread.id}/turns")["items"] == [turn]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", "input"),
        (" \n", "input"),
        (7, "input"),
        ([], "input"),
        ([{"type": "tool_result", "id": "x"}], "input[0].type"),
        ([{"type": "text"}], "input[0].text"),
        ({"text": "x"}, "input"),
    ],
)
def test_an_input_that_cannot_be_said_is_refused_by_its_path(
    operator: Caller, thread: AgentThread, given: Any, path: str
) -> None:
    told = operator.post(f"/threads/{thread.id}/turns", {"input": given, "request_id": "r"}, 422)
    assert told["path"] == path
    assert AgentThread.objects.get(id=thread.id).head_seq == 0


def test_an_unknown_field_and_a_missing_reason_are_named(
    operator: Caller, thread: AgentThread
) -> None:
    turn = operator.post(f"/threads/{thread.id}/turns", {"input": "hi"})
    operator.post(f"/turns/{turn['turn_id']}/cancel", {"why": "x"}, 422)
    told = operator.post(f"/turns/{turn['turn_id']}/cancel", {}, 400)
    assert told["code"] == "missing_reason"
    told = operator.post(f"/sessions/{thread.session_id}/interrupt", {"reason": "x"}, 409)
    assert (told["code"], told["queued_turns"]) == ("no_active_run", 1)


def test_who_may_only_read_changes_nothing(thread: AgentThread, operator: Caller) -> None:
    turn = operator.post(f"/threads/{thread.id}/turns", {"input": "hi"})
    viewer = caller("viewer")
    told = viewer.post(f"/threads/{thread.id}/turns", {"input": "hi"}, 403)
    assert told["permission"] == "runs:submit"
    viewer.post(f"/turns/{turn['turn_id']}/cancel", {"reason": "x"}, 403)
    assert turn_of(turn["turn_id"]).state == "queued"


def test_another_tenants_ids_are_unknown(thread: AgentThread, actor: Actor, work: Work) -> None:
    turn = submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "x"}')
    work(thread)
    asked, run = open_interactions(thread)[0], Run.objects.get()
    stranger = caller("operator", "elsewhere")
    for path in (
        f"/turns/{turn.turn_id}",
        f"/runs/{run.id}",
        f"/interactions/{asked.id}",
        f"/threads/{thread.id}/turns",
        f"/demo/orders?thread_id={thread.id}",
        "/turns/%00",
        "/runs/nothing",
    ):
        assert stranger.get(path, 404)["code"] == "not_found"
    decision = {"decision": "approve", "call_hash": asked.call_hash}
    stranger.post(f"/interactions/{asked.id}/respond", decision, 404)
    stranger.post(f"/turns/{turn.turn_id}/cancel", {"reason": "x"}, 404)
    for path in ("/runs", "/interactions"):
        assert stranger.get(path)["items"] == []


def test_a_question_is_listed_and_answered(
    operator: Caller, thread: AgentThread, actor: Actor, work: Work
) -> None:
    submit_turn(actor=actor, thread=thread, input='/tool create_order {"sku": "x"}')
    work(thread)
    (asked,) = operator.get("/interactions?status=pending")["items"]
    assert (asked["kind"], asked["tool"], asked["input"]) == (
        "approval",
        "create_order",
        {"sku": "x"},
    )
    wrong = {"decision": "approve", "call_hash": "0"}
    assert operator.post(f"/interactions/{asked['id']}/respond", wrong, 409)["code"] == (
        "call_hash_mismatch"
    )
    right = {"decision": "approve", "call_hash": asked["call_hash"], "request_id": "a"}
    receipt = operator.post(f"/interactions/{asked['id']}/respond", right)
    assert receipt["turn_id"] == asked["turn_id"]
    assert operator.post(f"/interactions/{asked['id']}/respond", right)["duplicate"]
    late = {"decision": "deny", "call_hash": asked["call_hash"]}
    told = operator.post(f"/interactions/{asked['id']}/respond", late, 409)
    assert (told["code"], told["by"]) == ("already_decided", "operator-")
    work(thread)
    (order,) = operator.get(f"/demo/orders?thread_id={thread.id}")["items"]
    assert (order["sku"], order["quantity"], order["call_id"]) == ("x", 1, asked["call_id"])


def test_runs_are_listed_newest_first_in_pages(
    operator: Caller, thread: AgentThread, actor: Actor, work: Work
) -> None:
    for n in range(5):
        submit_turn(actor=actor, thread=thread, input=f"/echo {n}")
    work(thread)
    seen: list[str] = []
    cursor = ""
    while True:
        page = operator.get(f"/runs?limit=2&status=completed,failed{cursor}")
        seen += [run["id"] for run in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == list(Run.objects.order_by("-started_at").values_list("id", flat=True))
    assert operator.get("/runs?cursor=abc", 400)["code"] == "bad_cursor"
    assert operator.get("/runs?status=flying", 422)["path"] == "status"
    assert operator.get("/runs?limit=0", 422)["path"] == "limit"


@pytest.mark.parametrize("state", list(TurnState))
def test_what_a_turn_offers_is_what_the_api_allows(
    operator: Caller, thread: AgentThread, actor: Actor, state: TurnState
) -> None:
    from runs_app.models import Turn

    turn = submit_turn(actor=actor, thread=thread, input="hi")
    Turn.objects.filter(id=turn.turn_id).update(state=state)
    configured._made.cache_clear()  # the journal remembers the rows that it wrote
    offered = {c["name"]: c for c in operator.get(f"/turns/{turn.turn_id}")["commands"]}
    allowed = offered["cancel"]["allowed"]
    told = operator.post(f"/turns/{turn.turn_id}/cancel", {"reason": "x"}, 202 if allowed else 409)
    assert allowed or told["detail"]
    assert all(c["allowed"] or c["reason"] for c in offered.values())
