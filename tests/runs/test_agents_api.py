"""Agents over HTTP: created, read by version, changed once per version, retired, refused."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from agentadmin.access.actor import Actor
from agentadmin.access.services import create_user
from agentadmin.access.tokens import create_token
from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from runs_app.models import AgentDefinition
from runs_app.profiles import PROFILES, permissions_of, window_of

pytestmark = pytest.mark.django_db(transaction=True)

NEW = {
    "id": "helper",
    "description": "Adds.",
    "model": "openai:gpt-x",
    "options": {"base_url": "http://127.0.0.1:9/v1", "context_window": 9_000},
    "sys_prompt": "Be brief.",
    "tools": ["calculator", "create_order"],
    "permission_context": {"mode": "accept_edits"},
    "max_iters": 5,
    "reason": "needed for the tests",
}


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    PROFILES.forget()
    later.discard()
    yield
    PROFILES.forget()
    later.discard()


class Caller:
    """A program with a token of a role."""

    def __init__(self, role: str, scopes: tuple[str, ...] | None = None, agent: str = "*") -> None:
        system = Actor.system("tests")
        user = create_user(
            actor=system, name=f"a-{role}", password="correct horse", role=role, agent=agent
        )
        secret = create_token(actor=system, user=user, scopes=scopes).secret
        self._client = Client(headers={"Authorization": f"Bearer {secret}"})

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        answer = self._client.generic(
            method, f"/api/v1{path}", json.dumps(body), "application/json", **more
        )
        assert answer.status_code == status, answer.content
        return json.loads(answer.content)


@pytest.fixture
def admin() -> Caller:
    return Caller("admin")


def changed(**fields: Any) -> dict[str, Any]:
    return {**{k: v for k, v in NEW.items() if k != "id"}, **fields}


def test_an_agent_is_created_and_read(admin: Caller) -> None:
    made = admin.ask("POST", "/agents", NEW, 201)
    assert (made["id"], made["version"], made["name"]) == ("helper", 1, "helper")
    assert (made["source"], made["factory"], made["retired"]) == ("definition", None, False)
    found = admin.ask("GET", "/agents/helper")
    assert found["tools"] == ["calculator", "create_order"]
    assert found["permission_context"]["mode"] == "accept_edits"
    assert found["options"] == NEW["options"]
    assert (window_of("helper"), permissions_of("helper").mode.value) == (9_000, "accept_edits")


def test_the_demo_and_functions_are_listed_read_only(admin: Caller, settings: Any) -> None:
    settings.AGENTS = ["tests.runs.own_agent:build"]
    admin.ask("POST", "/agents", NEW, 201)
    listed = admin.ask("GET", "/agents")["items"]
    assert [(a["id"], a["source"]) for a in listed] == [
        ("demo", "python"), ("helper", "definition"), ("shouter", "python"),
    ]  # fmt: skip
    assert listed[2]["factory"] == "tests.runs.own_agent:build"
    assert listed[2]["tools"] == ["shout"]
    for id_ in ("demo", "shouter"):
        problem = admin.ask("PUT", f"/agents/{id_}", changed(expected_version=1), 409)
        assert "is changed there" in problem["detail"]
        admin.ask("POST", "/agents", {**NEW, "id": id_}, 409)
    page = admin.ask("GET", "/agents?limit=2")
    assert page["next_cursor"] == "helper"
    rest = admin.ask("GET", f"/agents?cursor={page['next_cursor']}")
    assert [a["id"] for a in rest["items"]] == ["shouter"]


def test_every_change_is_a_version_with_its_reason_and_old_ones_stay(admin: Caller) -> None:
    admin.ask("POST", "/agents", NEW, 201)
    second = admin.ask("PUT", "/agents/helper", changed(expected_version=1, max_iters=7))
    assert (second["version"], second["max_iters"]) == (2, 7)
    third = admin.ask(
        "PUT", "/agents/helper", changed(max_iters=8, reason="more"), HTTP_IF_MATCH='"v2"'
    )
    assert third["version"] == 3
    assert admin.ask("GET", "/agents/helper?version=1")["max_iters"] == 5
    admin.ask("GET", "/agents/helper?version=4", status=404)
    versions = admin.ask("GET", "/agents/helper/versions?limit=2")
    assert [(v["version"], v["reason"]) for v in versions["items"]] == [
        (3, "more"), (2, NEW["reason"]),
    ]  # fmt: skip
    older = admin.ask("GET", f"/agents/helper/versions?cursor={versions['next_cursor']}")
    assert [v["created_by"] for v in older["items"]] == ["a-admin"]
    entries = AuditEntry.objects.filter(action__startswith="agents.").order_by("n")
    assert [e.action for e in entries] == ["agents.create", "agents.update", "agents.update"]
    body = json.loads(entries[1].body)
    assert body["content"]["diff"]["fields"] == {"max_iters": {"before": 5, "after": 7}}


def test_a_stale_change_is_refused_with_the_difference_and_an_equal_one_makes_no_version(
    admin: Caller,
) -> None:
    admin.ask("POST", "/agents", NEW, 201)
    admin.ask("PUT", "/agents/helper", changed(expected_version=1, max_iters=7))
    problem = admin.ask("PUT", "/agents/helper", changed(expected_version=1, max_iters=9), 409)
    assert (problem["code"], problem["current_version"]) == ("stale_version", 2)
    assert problem["diff"]["fields"] == {"max_iters": {"before": 7, "after": 9}}
    missing = admin.ask("PUT", "/agents/helper", changed(), 422)
    assert missing["path"] == "expected_version"
    bad = admin.ask("PUT", "/agents/helper", changed(), 422, HTTP_IF_MATCH="*")
    assert bad["path"] == "If-Match"
    same = admin.ask("PUT", "/agents/helper", changed(expected_version=2, max_iters=7))
    assert same["version"] == 2


def test_the_same_request_makes_one_version(admin: Caller) -> None:
    first = admin.ask("POST", "/agents", {**NEW, "request_id": "r1"}, 201)
    again = admin.ask("POST", "/agents", {**NEW, "request_id": "r1"}, 201)
    assert first == again
    admin.ask("POST", "/agents", {**NEW, "request_id": "r1", "max_iters": 9}, 409)
    put = changed(expected_version=1, max_iters=7, request_id="r2")
    assert [admin.ask("PUT", "/agents/helper", put)["version"] for _ in "ab"] == [2, 2]


def test_a_retired_agent_is_known_and_comes_back_by_a_change(admin: Caller) -> None:
    admin.ask("POST", "/agents", NEW, 201)
    retired = admin.ask("POST", "/agents/helper/retire", {"reason": "no use"})
    assert (retired["version"], retired["retired"]) == (2, True)
    assert PROFILES.get("helper") is None
    assert "helper" not in PROFILES.ids()
    assert [a["id"] for a in admin.ask("GET", "/agents")["items"]] == ["demo", "helper"]
    assert "bring it back" in admin.ask("POST", "/agents", NEW, 409)["detail"]
    back = admin.ask("PUT", "/agents/helper", changed(expected_version=2))
    assert (back["version"], back["retired"]) == (3, False)
    assert PROFILES.get("helper") is not None


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"model": None}, ["model"]),
        ({"model": "nobody:x"}, ["model"]),
        ({"options": {"api_key_env": "SECRET_KEY"}}, ["options.api_key_env"]),
        ({"options": {"headers": {"x-api-key": "1"}}}, ["options.headers.x-api-key"]),
        ({"options": []}, ["options"]),
        ({"tools": ["calculator", "nothing"]}, ["tools[1]"]),
        ({"tools": ["calculator", "calculator"]}, ["tools[1]"]),
        ({"tools": "calculator"}, ["tools"]),
        ({"tool_groups": [" "]}, ["tool_groups[0]"]),
        ({"max_iters": 0, "workspace": "yes"}, ["max_iters", "workspace"]),
        ({"answer_within": 0}, ["answer_within"]),
        ({"answer_within": 1.5}, ["answer_within"]),
        ({"name": "a\nb"}, ["name"]),
        ({"sys_prompt": "a\0b"}, ["sys_prompt"]),
        ({"permission_context": {"mode": "always"}}, ["permission_context.mode"]),
        ({"permission_context": {"modes": []}}, ["permission_context.modes"]),
        ({"permission_context": []}, ["permission_context"]),
        (
            {"permission_context": {"deny_rules": {"a": [
                {"tool_name": "b", "behavior": "deny", "source": "x", "rule_content": None}]}}},
            ["permission_context.deny_rules.a[0].tool_name"],
        ),
        ({"id": ""}, ["id"]),
        ({"id": "a\0"}, ["id"]),
    ],
)  # fmt: skip
def test_every_fault_is_told_by_its_field(
    admin: Caller, fields: dict[str, Any], paths: list[str]
) -> None:
    problem = admin.ask("POST", "/agents", {**NEW, **fields}, 422)
    assert [error["path"] for error in problem["errors"]] == paths
    assert problem["path"] == paths[0]
    assert not AgentDefinition.objects.filter(factory="").exists()


def test_unknown_fields_and_a_missing_reason_are_refused(admin: Caller) -> None:
    admin.ask("POST", "/agents", {**NEW, "api_key": "sk-1"}, 422)
    problem = admin.ask("POST", "/agents", {**NEW, "reason": None}, 400)
    assert problem["code"] == "missing_reason"


def test_who_may_not_is_refused() -> None:
    viewer = Caller("viewer")
    assert viewer.ask("GET", "/agents")["items"][0]["id"] == "demo"
    for method, path, body in (
        ("POST", "/agents", NEW),
        ("PUT", "/agents/demo", changed(expected_version=1)),
        ("POST", "/agents/demo/retire", {"reason": "x"}),
    ):
        problem = viewer.ask(method, path, body, 403)
        assert problem["permission"] == "agents:manage"
    viewer.ask("GET", "/agents/nobody", status=404)
    viewer.ask("GET", "/agents/%00", status=404)
    viewer.ask("GET", "/agents/demo?version=99999999999999999999", status=404)


def test_agents_outside_of_a_role_s_pattern_do_not_exist_for_it(admin: Caller) -> None:
    admin.ask("POST", "/agents", NEW, 201)
    narrow = Caller("viewer", agent="hel*")
    assert [a["id"] for a in narrow.ask("GET", "/agents")["items"]] == ["helper"]
    narrow.ask("GET", "/agents/demo", status=404)
    narrow.ask("GET", "/agents/demo/versions", status=404)
    assert narrow.ask("GET", "/agents/helper")["sessions"] == 0


def test_an_agent_that_may_more_needs_the_scope_to_widen() -> None:
    careful = Caller("admin", scopes=("agents:read", "agents:manage"))
    careful.ask("POST", "/agents", NEW, 201)
    wide = changed(expected_version=1, permission_context={"mode": "bypass"})
    problem = careful.ask("PUT", "/agents/helper", wide, 403)
    assert problem["permission"] == "permissions:widen"
    rule = {"tool_name": "calculator", "rule_content": None, "behavior": "allow", "source": "x"}
    wide["permission_context"] = {"allow_rules": {"calculator": [rule]}}
    careful.ask("PUT", "/agents/helper", wide, 403)


def test_one_agent_that_cannot_be_built_hides_no_other(admin: Caller) -> None:
    AgentDefinition.objects.create(agent_id="gone", version=1, name="gone", factory="no.such:thing")
    listed = admin.ask("GET", "/agents")["items"]
    assert [(a["id"], bool(a["error"])) for a in listed] == [("demo", False), ("gone", True)]


def test_an_id_may_hold_slashes_and_any_script(admin: Caller) -> None:
    for id_ in ("team/helper", "помощник", "助手 🤖"):
        admin.ask("POST", "/agents", {**NEW, "id": id_}, 201)
        assert admin.ask("GET", f"/agents/{id_}")["id"] == id_
        assert len(admin.ask("GET", f"/agents/{id_}/versions")["items"]) == 1
