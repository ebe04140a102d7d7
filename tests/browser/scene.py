"""What the pages are looked at with: the demo, a state from Java, and a hostile session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from agentadmin.engine.state import codec
from tests.services.product import Product, until

JAVA = settings.BASE_DIR / "tests/data/agentscope-java/agent_state_full.json"
NAME = "<script>alert(1)</script> & ' / ? # .. %00 🦀 " + "w" * 300
HOSTILE = f"{NAME} \u202eabc\u202c\u200b \x07"
SETTLED = {"completed", "failed", "waiting", "cancelled"}


@dataclass(frozen=True, slots=True)
class Scene:
    """Addresses of pages by what they show."""

    pages: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.pages[name]


@cache
def scene(product: Product) -> Scene:
    """Made once per product, by its own API; the demo is there."""
    with product.client() as client:
        state = {"state": codec.loads(JAVA.read_bytes()), "session_id": "from-java"}
        assert client.post("/sessions/import", json=state).is_success
        hostile = _hostile(client)
        sessions = {s["session_id"]: s["id"] for s in _get(client, "/sessions?limit=200")["items"]}
        found = {name: _thread(client, id) for name, id in sessions.items()}
        run = _get(client, f"/runs?thread_id={found['office-supplies']}")["items"][0]["id"]
        failed = _get(client, f"/runs?thread_id={found['weather-station']}")["items"][0]["id"]
        asked = _get(client, f"/interactions?thread_id={found['tea-kitchen']}")["items"][0]
        entry = _get(client, "/audit?limit=1")["items"][0]["id"]
        token = client.post("/tokens", json={"name": NAME[:40], "days": 1}).json()["id"]
        job = _erased(client)
        _plan(client, found["office-supplies"])
        _agent(client)
    done, waits = f"/threads/{found['office-supplies']}", f"/threads/{found['tea-kitchen']}"
    long = f"/threads/{found['stocktaking']}"
    return Scene(
        {
            "sessions": "/sessions",
            "no session fits": "/sessions?q=nothing-is-called-this",
            "new session": "/sessions/new",
            "import": "/sessions/import",
            "export": f"{done}/export",
            "export for Python": f"{done}/export?format=agentscope-python",
            "conversation": f"{done}/conversation",
            "a long conversation": f"{long}/conversation",
            "a waiting approval": f"{waits}/conversation",
            "an interrupted turn": f"/threads/{found['quarterly-report']}/conversation",
            "a failed turn": f"/threads/{found['weather-station']}/conversation",
            "a question in Chinese": f"/threads/{found['客服-订单查询']}/conversation",
            "an approval in Arabic": f"/threads/{found['مكتب-المساعدة']}/conversation",
            "a conversation from Java": f"/sessions/{sessions['from-java']}",
            "hostile text": f"/threads/{hostile}/conversation",
            "state": f"/threads/{found['from-java']}/state",
            "raw state": f"/threads/{found['from-java']}/state?pointer=/context",
            "permissions": f"/threads/{found['from-java']}/permissions",
            "plan": f"{done}/plan",
            "set to-dos": f"{done}/act/set_todos",
            "begin task": f"{done}/act/begin_task",
            "redact": f"{done}/act/redact_message",
            "patch": f"{done}/act/json_patch",
            "history": f"{done}/history",
            "a comparison": f"{done}/compare/0..3",
            "hostile versions": f"/threads/{hostile}/compare/0..2",
            "a past state": f"{done}/state?version=1",
            "restore": f"{done}/act/restore?version=1",
            "fork": f"{done}/fork?version=1",
            "runs": f"{done}/runs",
            "a session's audit": f"{done}/audit",
            "run": f"/runs/{run}",
            "a failed run": f"/runs/{failed}",
            "audit": "/audit",
            "audit entry": f"/audit/{entry}",
            "clear context": f"{done}/act/clear_context",
            "add rule": f"{done}/act/add_rule",
            "set summary": f"{done}/act/set_summary",
            "widen": f"{done}/act/set_permission_mode?mode=bypass",
            "an audit list with filters": "/audit?q=outcome:allowed%20time:24h",
            "a wrong audit filter": "/audit?time=2y",
            "profile": "/me",
            "tokens": "/me/tokens",
            "new token": "/me/tokens/new",
            "revoke token": f"/me/tokens/{token}/revoke",
            "users": "/admin/users",
            "new user": "/admin/users/new",
            "user": "/admin/users/1",
            "deactivate user": "/admin/users/1/active",
            "renew password": "/admin/users/1/password",
            "withdraw role": "/admin/users/1/roles/1/withdraw",
            "confirm it is you": "/step-up",
            "help": "/help",
            "API": "/api/v1/docs",
            "erase session": f"/sessions/{sessions['from-java']}/erase",
            "jobs": "/jobs",
            "job": f"/jobs/{job}",
            "stop job": f"/jobs/{job}/stop",
            "approvals": "/approvals",
            "approval": f"/approvals/{asked['id']}",
            "decided approvals": "/approvals?show=decided",
            "allow once": f"/approvals/{asked['id']}/allow-once",
            "turns": "/turns",
            "every turn": "/turns?status=all",
            "pause": f"/turns/{asked['turn_id']}/pause",
            "resume": f"/turns/{asked['turn_id']}/resume",
            "steer": f"/turns/{asked['turn_id']}/steer",
            "allow and add rule": f"/approvals/{asked['id']}/allow-rule",
            "edit call": f"/approvals/{asked['id']}/edit",
            "interrupt": f"{waits}/interrupt",
            "cancel": f"/turns/{asked['turn_id']}/cancel",
            "agents": "/agents",
            "agent": "/agents/demo",
            "two versions of an agent": "/agents/helper?from=1&to=2",
            "new agent": "/new-agent",
            "change agent": "/agents/helper/edit",
            "retire agent": "/agents/helper/retire",
            "nothing": "/sessions/00000000-0000-7000-8000-000000000000",
        }
    )


def _get(client: Any, path: str) -> Any:
    answer = client.get(path)
    assert answer.is_success, answer.text
    return answer.json()


def _thread(client: Any, session_id: str) -> str:
    return str(_get(client, f"/sessions/{session_id}")["threads"][0]["id"])


def _plan(client: Any, thread_id: str) -> None:
    """Plan mode, to-dos in every state, and a task with a requirement that was decided."""
    todos = [
        {"content": "Count the pens", "status": "completed"},
        {"content": "Order paper", "status": "in_progress", "priority": "high"},
        {"content": "w" * 200},
    ]
    needs = [{"id": "r1", "text": "Nothing is ordered twice"}, {"id": "r2", "text": "By Friday"}]
    operations = [
        {"op": "enter_plan_mode"},
        {"op": "set_todos", "todos": todos},
        {"op": "begin_task", "objective": "Keep the shelf full", "requirements": needs},
        {"op": "decide_requirement", "id": "r1", "decision": "confirm"},
        {"op": "set_subject_version", "subject_version": "shelf-7"},
    ]
    wanted = {"reason": "test data", "operations": operations}
    assert client.patch(f"/threads/{thread_id}/state", json=wanted).is_success


def _agent(client: Any) -> None:
    """An agent in two versions, with everything that a definition may say."""
    rule = {"tool_name": "calculator", "rule_content": None, "behavior": "allow", "source": "x"}
    wanted = {
        "description": f"Counts things. {HOSTILE[-60:]}",
        "model": "openai:test",
        "options": {"base_url": "http://127.0.0.1:9/v1", "headers": {"x-team": "blue"}},
        "sys_prompt": "Be brief.\nBe kind.\n" + "w" * 200,
        "tools": ["calculator", "create_order"],
        "permission_context": {"allow_rules": {"calculator": [rule]}},
        "reason": "test data",
    }
    assert client.post("/agents", json={"id": "helper", **wanted}).status_code == 201
    changed = {**wanted, "sys_prompt": "Be exact.", "max_iters": 5, "expected_version": 1}
    assert client.put("/agents/helper", json=changed).is_success


def _erased(client: Any) -> str:
    """A session that was erased; the id of the job that did it."""
    made = client.post("/sessions", json={"agent_id": "demo", "session_id": "to-erase"}).json()
    asked = client.post(f"/sessions/{made['id']}/erase", json={"reason": "test data"}).json()
    until(lambda: _get(client, f"/jobs/{asked['job_id']}")["state"] == "completed", "erased")
    return str(asked["job_id"])


def _hostile(client: Any) -> str:
    """A session whose every name and text tries to break the page."""
    names = {"session_id": NAME[:256], "user_id": NAME[20:276]}
    made = client.post("/sessions", json={"agent_id": "demo", **names})
    assert made.is_success, made.text
    thread = str(made.json()["threads"][0]["id"])
    for text in (HOSTILE, f"/tool create_order {codec.dumps({'sku': HOSTILE[-100:]})}"):
        turn = client.post(f"/threads/{thread}/turns", json={"input": text}).json()["turn_id"]
        until(lambda turn=turn: _get(client, f"/turns/{turn}")["state"] in SETTLED, "settled")
    return thread
