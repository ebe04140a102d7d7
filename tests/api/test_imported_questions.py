"""An imported question is a pending one here too, with the journal that the product uses."""

import json

import pytest

from runs_app.models import Interaction, Turn
from sessions_app.models import AgentThread
from tests.api.conftest import Caller, problem
from tests.engine.state import fixtures

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def plain_journal() -> None:
    """Not here: the journal that the settings name."""


@pytest.fixture
def imported(operator: Caller) -> AgentThread:
    state = fixtures.document("agent_state_full.json")
    made = json.loads(operator.post("/sessions/import", {"state": state}).content)
    return AgentThread.objects.get(id=made["threads"][0]["id"])


def test_its_question_is_pending(operator: Caller, imported: AgentThread) -> None:
    [asked] = json.loads(operator.get("/interactions", status="pending").content)["items"]
    assert (asked["kind"], asked["tool"]) == ("approval", "execute")
    assert asked["input"] == {"command": "rm /tmp/x"}
    assert asked["call_hash"]
    turn = Turn.objects.get(thread=imported)
    assert (turn.state, turn.wait_kind) == ("waiting", "approval")
    assert (imported.status, imported.pending_interactions) == ("waiting", 1)
    assert imported.runnable_since is None
    [session] = json.loads(operator.get("/sessions", status="waiting").content)["items"]
    assert session["pending"] == 1


def test_answering_it_makes_its_turn_runnable(operator: Caller, imported: AgentThread) -> None:
    asked = Interaction.objects.get(thread=imported)
    answer = {"request_id": "a", "decision": "approve", "call_hash": asked.call_hash}
    done = operator.post(f"/interactions/{asked.id}/respond", answer)
    assert done.status_code in {200, 202}, done.content
    imported.refresh_from_db()
    assert imported.runnable_since is not None
    assert imported.pending_interactions == 0


def test_its_context_waits_for_the_answer(operator: Caller, imported: AgentThread) -> None:
    clear = {"reason": "r", "operations": [{"op": "clear_context"}]}
    refused = operator.patch(f"/threads/{imported.id}/state", clear)
    assert problem(refused)[:2] == (409, "interaction_pending")


def test_a_new_thread_begins_with_what_its_agent_may_do(operator: Caller) -> None:
    made = json.loads(operator.post("/sessions", {"agent_id": "demo"}).content)
    path = f"/threads/{made['threads'][0]['id']}/state"
    found = json.loads(operator.get(path).content)
    assert found["version"] == 0
    assert "calculator" in found["state"]["permission_context"]["allow_rules"]
    deny = {"op": "add_rule", "behavior": "deny", "tool_name": "execute", "source": "session"}
    operator.patch(path, {"reason": "r", "operations": [deny]})
    rules = json.loads(operator.get(path).content)["state"]["permission_context"]
    assert "calculator" in rules["allow_rules"]
    assert "execute" in rules["deny_rules"]
