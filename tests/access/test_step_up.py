"""A password counts as fresh for ten minutes; then it is asked for again."""

from datetime import timedelta

import pytest
from django.test import Client

from agentadmin.access import actor as actors
from agentadmin.access.authentication import actor_from_scope
from agentadmin.engine.clock import now
from tests.access.conftest import PASSWORD, last_entry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people", "site")]


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.post("/sign-in", {"username": "operator", "password": PASSWORD})
    return client


def is_fresh(client: Client) -> bool:
    return actor_from_scope({"cookies": {"sessionid": client.session.session_key}}).is_fresh


def grow_stale(client: Client) -> None:
    session = client.session
    session["access_fresh_at"] = (now() - timedelta(minutes=11)).timestamp()
    session.save()


def test_a_sign_in_is_fresh_for_ten_minutes(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_fresh(browser)
    monkeypatch.setattr(actors, "now", lambda: now() + timedelta(minutes=9, seconds=50))
    assert is_fresh(browser)
    monkeypatch.setattr(actors, "now", lambda: now() + timedelta(minutes=10, seconds=1))
    assert not is_fresh(browser)


def test_the_password_makes_a_stale_session_fresh_and_leads_on(browser: Client) -> None:
    grow_stale(browser)
    answer = browser.post("/step-up", {"password": PASSWORD, "next": "/page"})
    assert (answer.status_code, answer["Location"]) == (302, "/page")
    assert is_fresh(browser)
    assert last_entry().action == "access.step_up"


def test_the_interrupted_form_is_posted_again(browser: Client) -> None:
    form = {"password": PASSWORD, "next": "/page", "reason": "because"}
    answer = browser.post("/step-up", form)
    assert (answer.status_code, answer["Location"]) == (307, "/page")


def test_a_wrong_password_changes_nothing_and_is_throttled(browser: Client) -> None:
    grow_stale(browser)
    form = {"password": "wrong", "reason": "because"}
    for _ in range(5):
        answer = browser.post("/step-up", form)
        assert answer.status_code == 401
    assert b'name="reason" value="because"' in answer.content
    assert browser.post("/step-up", {"password": PASSWORD}).status_code == 429
    assert not is_fresh(browser)


def test_nobody_is_asked_for_a_password_again() -> None:
    assert Client().get("/step-up").status_code == 302
