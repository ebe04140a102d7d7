"""The agents' pages: the list, one with its versions, the form with faults at fields, retiring."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agentadmin.access.services import create_user
from runs_app.models import AgentDefinition, Run
from runs_app.profiles import PROFILES
from runs_app.services.agents import create_agent, retire_agent, update_agent
from sessions_app.models import AgentSession
from tests.pages.conftest import (
    PASSWORD,
    SYSTEM,
    Talk,
    Visit,
    Visitor,
    address,
    html,
    new_thread,
    text,
)

pytestmark = pytest.mark.django_db(transaction=True)

REASON = "It is needed for a test"
FIELDS = {
    "agent_id": "helper",
    "name": "",
    "description": "Answers.",
    "model": "openai:gpt-x",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": "TEAM_API_KEY",
    "temperature": "0.5",
    "max_tokens": "100",
    "headers": "x-team: blue\n",
    "body": '{"top_k": 3}',
    "sys_prompt": "Be brief.\nBe kind.",
    "tools": ["calculator", "create_order"],
    "tool_groups": "",
    "max_iters": "5",
    "workspace": "on",
    "mode": "accept_edits",
    "deny_rules": "create_order: *evil*\n",
    "ask_rules": "",
    "allow_rules": "",
    "working_directories": "",
    "reason": REASON,
}


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    PROFILES.forget()
    yield
    PROFILES.forget()


@pytest.fixture
def admin(db: None) -> Visitor:
    return Visitor(create_user(actor=SYSTEM, name="root", password=PASSWORD, role="admin"))


def define(**fields: Any) -> None:
    given = {"model": "offline:demo", "tools": ["calculator"], **fields}
    create_agent(actor=SYSTEM, agent_id="helper", given=given, reason=REASON)


def test_the_list_shows_functions_and_definitions(admin: Visitor, visit: Visit) -> None:
    define(description="Adds.")
    new_thread(agent_id="helper")
    page = text(admin.get("/agents"))
    assert "helper" in page
    assert 'data-label="Sessions">1<' in html(admin.get("/agents"))
    assert "runs_app.profiles:demo" in page
    assert "New agent" in page
    assert "needs agents:manage" in text(visit("viewer").get("/agents"))
    assert visit("viewer").get("/new-agent").status_code == 403


def test_an_agent_is_made_with_the_form_and_shown_in_words(admin: Visitor) -> None:
    assert admin.get("/new-agent").status_code == 200
    answer = admin.post("/new-agent", **FIELDS)
    assert (answer.status_code, answer["Location"]) == (302, "/agents/helper")
    page = text(admin.get("/agents/helper"))
    assert "openai:gpt-x" in page
    assert "TEAM_API_KEY" in page
    assert "create_order: *evil* is denied, whatever else says" in page
    assert "File edits in the working directories pass" in page
    assert "acts outside, never repeated by itself" in page
    row = AgentDefinition.objects.get(agent_id="helper")
    said = PROFILES.get("helper").agent.spec  # type: ignore[union-attr]
    assert (row.reason, row.actor_name, said.max_iters) == (REASON, "root", 5)
    options = said.model.options  # type: ignore[attr-defined]
    assert (options.body, options.headers) == ({"top_k": 3}, {"x-team": "blue"})


def test_every_fault_stands_at_its_field_and_nothing_typed_is_lost(admin: Visitor) -> None:
    wrong = {
        "model": "nobody:x",
        "base_url": "ftp://x",
        "api_key_env": "SECRET_KEY",
        "temperature": "warm",
        "headers": "x-api-key: 1",
        "body": "{",
        "max_iters": "0",
        "reason": "short",
    }
    first = admin.post("/new-agent", **(FIELDS | {"reason": "short"}))
    assert first.status_code == 422
    assert 'id="id_reason-error"' in html(first)
    answer = admin.post("/new-agent", **(FIELDS | wrong | {"reason": REASON}))
    page = html(answer)
    assert answer.status_code == 422
    for name in wrong.keys() - {"reason"}:
        assert f'id="id_{name}-error"' in page, name
        assert re.search(rf'name="{name}"[^>]*aria-invalid="true"', page), name
    assert "Be brief.\nBe kind." in page
    assert 'value="warm"' in page
    assert 'value="create_order" checked' in page
    assert not AgentDefinition.objects.filter(agent_id="helper").exists()


def test_a_taken_id_is_told(admin: Visitor) -> None:
    define()
    taken = admin.post("/new-agent", **FIELDS)
    assert taken.status_code == 409
    assert "There is an agent helper already." in text(taken)
    assert "is changed there" in text(admin.post("/new-agent", **(FIELDS | {"agent_id": "demo"})))


def test_a_change_is_a_version_that_can_be_compared(admin: Visitor) -> None:
    admin.post("/new-agent", **FIELDS)
    form = html(admin.get("/agents/helper/edit"))
    assert 'name="expected_version" value="1"' in form
    assert "create_order: *evil*" in form
    changed = FIELDS | {"sys_prompt": "Be brief.\nBe exact.", "expected_version": "1"}
    answer = admin.post("/agents/helper/edit", **changed)
    assert answer.status_code == 302, text(answer)
    page = text(admin.get("/agents/helper", **{"from": 1, "to": 2}))
    assert "Version 1 compared with 2" in page
    assert "−removed Be kind." in page
    assert "+added Be exact." in page
    assert "An older version" in text(admin.get("/agents/helper", version=1))
    assert admin.get("/agents/helper", version=9).status_code == 404


def test_a_draft_that_comes_too_late_is_kept(admin: Visitor) -> None:
    admin.post("/new-agent", **FIELDS)
    update_agent(
        actor=SYSTEM,
        agent_id="helper",
        given={"model": "offline:demo"},
        reason=REASON,
        expected_version=1,
    )
    mine = FIELDS | {"expected_version": "1", "description": "Mine."}
    late = admin.post("/agents/helper/edit", **mine)
    assert late.status_code == 409
    assert "Somebody has made version 2 meanwhile." in text(late)
    assert "Mine." in html(late)
    assert 'name="expected_version" value="2"' in html(late)
    assert (
        admin.post("/agents/helper/edit", **(mine | {"expected_version": "2"})).status_code == 302
    )


def test_what_the_form_cannot_say_survives_it(admin: Visitor) -> None:
    rule = {
        "tool_name": "calculator",
        "rule_content": None,
        "behavior": "deny",
        "source": "api",
        "expires_at": "2030-01-01T00:00:00Z",
    }
    define(permission_context={"deny_rules": {"calculator": [rule]}})
    kept = FIELDS | {"deny_rules": "calculator\n", "expected_version": "1"}
    assert admin.post("/agents/helper/edit", **kept).status_code == 302
    context = PROFILES.get("helper").agent.spec.permission_context  # type: ignore[union-attr]
    (found,) = context.deny_rules["calculator"]
    assert (found.source, found.expires_at) == ("api", rule["expires_at"])


def test_widening_asks_for_the_password_and_goes_on_with_the_fields(admin: Visitor) -> None:
    wide = FIELDS | {"allow_rules": "calculator\n"}
    asked = admin.post("/new-agent", **wide)
    assert asked.status_code == 403
    page = html(asked)
    assert 'name="allow_rules" value="calculator' in page
    assert page.count('name="tools" value="') == 2
    assert not AgentDefinition.objects.filter(agent_id="helper").exists()


def test_an_agent_is_tried_and_retired(admin: Visitor, visit: Visit) -> None:
    define()
    page = html(admin.get("/agents/helper"))
    assert "Try it" in page
    made = admin.post("/sessions/new", agent_id="helper")
    assert made.status_code == 302
    assert AgentSession.objects.get().agent_id == "helper"
    dialog = text(admin.fragment("/agents/helper/retire"))
    assert "turns that have begun: they end with their version" in dialog
    assert admin.post("/agents/helper/retire", reason="short").status_code == 422
    done = admin.post("/agents/helper/retire", htmx=True, reason=REASON)
    assert done["HX-Redirect"] == "/agents/helper"
    page = text(admin.get("/agents/helper"))
    assert "retired" in page
    assert "Try it" not in page
    assert "Bring back" in page
    assert "retired" in text(admin.get("/agents"))
    assert visit("viewer").get("/agents/helper/retire").status_code == 403


def test_a_conversation_says_which_agent_it_waits_for_and_a_run_which_version_ran(
    admin: Visitor, talk: Talk, visit: Visit
) -> None:
    thread = talk(new_thread(agent_id="helper"), "/echo hi")
    page = html(admin.get(address(thread)))
    assert "is not defined here" in text(admin.get(address(thread)))
    assert 'href="/new-agent?agent_id=helper"' in page
    assert 'value="helper"' in html(admin.get("/new-agent", agent_id="helper"))
    assert "/new-agent" not in html(visit("operator").get(address(thread)))
    define()
    talk(thread)
    run = Run.objects.get()
    assert 'href="/agents/helper?version=1"' in html(admin.get(f"/runs/{run.id}"))
    retire_agent(actor=SYSTEM, agent_id="helper", reason=REASON)
    talk(thread, "/echo more")
    assert "was retired" in text(admin.get(address(thread)))


def test_the_demo_is_read_only_and_an_unknown_agent_is_no_page(admin: Visitor) -> None:
    page = text(admin.get("/agents/demo"))
    assert "changed in its code" in page
    assert "Change…" not in page
    assert admin.get("/agents/nobody").status_code == 404
    assert admin.get("/agents/nobody/edit").status_code == 404


def test_odd_ids_and_texts_are_shown_as_text(admin: Visitor) -> None:
    given = {"model": "offline:demo", "sys_prompt": "<script>alert(1)</script>", "name": "x"}
    create_agent(actor=SYSTEM, agent_id="a/b <i>", given=given, reason="<b>" * 5)
    assert "<script>alert" not in html(admin.get("/agents/a%2Fb%20%3Ci%3E"))
    assert "a/b &lt;i&gt;" in html(admin.get("/agents"))
    assert admin.get("/agents/a/b <i>/edit").status_code == 200
