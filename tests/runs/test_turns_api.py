"""Commands to turns over HTTP: receipts, refusals with their codes, lists across threads."""

import pytest

from agentadmin.access.actor import Actor
from runs_app.states import TurnCommand
from sessions_app.models import AgentThread
from tests.runs.conftest import Work, new_thread, turn_of
from tests.runs.test_api import Caller, caller, nothing_left_over, operator

__all__ = ["nothing_left_over", "operator"]
pytestmark = pytest.mark.django_db(transaction=True)


def submit(who: Caller, thread: AgentThread, text: str) -> str:
    turn_id: str = who.post(f"/threads/{thread.id}/turns", {"input": text})["turn_id"]
    return turn_id


def test_a_turn_is_paused_and_resumed_by_revision(operator: Caller, thread: AgentThread) -> None:
    turn_id = submit(operator, thread, "/echo a")
    paused = operator.post(f"/turns/{turn_id}/pause", {"request_id": "p"})
    assert paused == {"turn_id": turn_id, "state": "paused", "revision": 2, "duplicate": False}
    again = operator.post(f"/turns/{turn_id}/pause", {"request_id": "p"})
    assert again == {**paused, "duplicate": True}
    other = operator.post(f"/turns/{turn_id}/pause", {"request_id": "p", "reason": "x"}, 409)
    assert other["code"] == "idempotency_mismatch"
    stale = operator.post(f"/turns/{turn_id}/resume", {"request_id": "r", "revision": 1}, 409)
    assert (stale["code"], stale["revision"], stale["state"]) == ("stale_revision", 2, "paused")
    missing = operator.post(f"/turns/{turn_id}/resume", {"request_id": "r"}, 422)
    assert missing["path"] == "revision"
    resumed = operator.post(f"/turns/{turn_id}/resume", {"request_id": "r", "revision": 2})
    assert (resumed["state"], resumed["revision"]) == ("queued", 3)
    refused = operator.post(f"/turns/{turn_id}/resume", {"request_id": "s", "revision": 3}, 409)
    assert (refused["code"], refused["detail"]) == ("conflict", "The turn is not paused.")


def test_a_turn_is_steered_until_it_ends(operator: Caller, thread: AgentThread, work: Work) -> None:
    turn_id = submit(operator, thread, "/echo a")
    body = {"request_id": "s", "input": [{"type": "text", "text": "/echo b"}]}
    told = operator.post(f"/turns/{turn_id}/steer", body)
    assert told == {"turn_id": turn_id, "state": "queued", "revision": 1, "duplicate": False}
    assert operator.post(f"/turns/{turn_id}/steer", body)["duplicate"]
    assert operator.get(f"/turns/{turn_id}")["unread"] == 1
    wrong = operator.post(f"/turns/{turn_id}/steer", {"request_id": "t", "input": ""}, 422)
    assert wrong["path"] == "input"
    work(thread)
    assert operator.get(f"/turns/{turn_id}")["unread"] == 0
    late = operator.post(f"/turns/{turn_id}/steer", {"request_id": "u", "input": "late"}, 409)
    assert late["code"] == "turn_finished"


def test_a_turn_says_what_may_be_asked_of_it(operator: Caller, thread: AgentThread) -> None:
    turn = operator.get(f"/turns/{submit(operator, thread, '/echo a')}")
    assert [each["name"] for each in turn["commands"]] == list(TurnCommand)
    verdicts = {each["name"]: each["allowed"] for each in turn["commands"]}
    assert (verdicts["pause"], verdicts["steer"], verdicts["resume"]) == (True, True, False)
    assert all(each["allowed"] or each["reason"] for each in turn["commands"])


def test_turns_of_all_threads_are_listed_by_state_and_agent(
    operator: Caller, thread: AgentThread, actor: Actor, work: Work
) -> None:
    done = submit(operator, thread, "/echo a")
    work(thread)
    others = [submit(operator, new_thread(actor), f"/echo {n}") for n in range(4)]
    operator.post(f"/turns/{others[0]}/pause", {"request_id": "p"})
    waiting = operator.get("/turns?status=open")["items"]
    assert [turn["id"] for turn in waiting] == others[::-1]
    assert waiting[0]["agent_id"] == "demo"
    assert [t["id"] for t in operator.get("/turns?status=paused")["items"]] == others[:1]
    assert [t["id"] for t in operator.get("/turns?status=completed,failed")["items"]] == [done]
    assert operator.get("/turns?agent_id=nobody")["items"] == []
    first = operator.get("/turns?limit=3")
    rest = operator.get(f"/turns?limit=3&cursor={first['next_cursor']}")
    assert [t["id"] for t in first["items"] + rest["items"]] == [*others[::-1], done]
    assert rest["next_cursor"] is None
    assert operator.get("/turns?status=sideways", 422)["path"] == "status"
    assert operator.get("/turns?cursor=~", 400)["code"] == "bad_cursor"


def test_another_namespaces_turns_do_not_exist(operator: Caller, thread: AgentThread) -> None:
    turn_id = submit(operator, thread, "/echo a")
    stranger, viewer = caller("operator", "elsewhere"), caller("viewer")
    assert stranger.get("/turns")["items"] == []
    for command, body in {"pause": {}, "resume": {"revision": 1}, "steer": {"input": "x"}}.items():
        stranger.post(f"/turns/{turn_id}/{command}", body, 404)
        told = viewer.post(f"/turns/{turn_id}/{command}", body, 403)
        assert told["code"] == "forbidden"
    assert turn_of(turn_id).revision == 1
