"""The sessions list and the form that makes a session."""

import re
from typing import Any

import pytest
from django.test import Client

from sessions_app.models import AgentSession
from sessions_app.pages.listing import filters_of, query_of
from tests.pages.conftest import Visit, html, new_thread, text

pytestmark = pytest.mark.django_db


def test_an_operator_sees_the_sessions_with_their_numbers(visit: Visit) -> None:
    thread = new_thread(session_id="invoice-7")
    page = visit("operator").get("/sessions")
    assert page.status_code == 200
    assert "invoice-7" in text(page)
    assert f'data-threads="{thread.id}"' in html(page)
    assert "New session" in text(page)


def test_the_start_page_is_the_list(visit: Visit) -> None:
    new_thread(session_id="invoice-7")
    assert "invoice-7" in text(visit("operator").get("/"))


def test_a_stranger_sees_nothing_and_is_told_why(visit: Visit) -> None:
    new_thread(session_id="invoice-7")
    page = text(visit("stranger").get("/sessions"))
    assert "invoice-7" not in page
    assert "No sessions" in page


def test_a_viewer_reads_which_permission_a_new_session_needs(visit: Visit) -> None:
    page = visit("viewer").get("/sessions")
    assert "needs sessions:create" in text(page)
    assert visit("viewer").get("/sessions/new").status_code == 403


def test_nobody_is_led_to_the_sign_in_and_back(db: None) -> None:
    answer = Client().get("/sessions?q=x")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in?next=%2Fsessions")


def test_a_query_that_fits_nothing_offers_the_whole_list(visit: Visit) -> None:
    new_thread()
    page = text(visit("operator").get("/sessions", q="nowhere"))
    assert "No session fits" in page
    assert "Show every session" in page


def test_words_with_a_colon_ask_for_a_field() -> None:
    found = filters_of(query_of({"q": "user:alice agent:demo two words", "status": "idle"}))
    assert (found.user_id, found.agent_id, found.status) == ("alice", "demo", "idle")
    assert found.q == "two words"


def test_an_empty_user_means_anonymous_sessions(visit: Visit) -> None:
    new_thread(session_id="hers")
    new_thread(session_id="nobodys", user_id=None)
    page = text(visit("operator").get("/sessions", user_id=""))
    assert "nobodys" in page
    assert "hers" not in page


@pytest.mark.parametrize("query", [{"status": "elsewhere"}, {"cursor": "x"}, {"q": "a\0b"}])
def test_a_malformed_query_is_refused_with_a_page(visit: Visit, query: dict[str, str]) -> None:
    page = visit("operator").get("/sessions", **query)
    assert page.status_code in {400, 422}
    assert "request" in text(page)


def test_pages_of_the_list_follow_one_another(visit: Visit) -> None:
    for n in range(53):
        new_thread(session_id=f"n-{n:02}")
    first = html(visit("operator").get("/sessions"))
    assert first.count("data-row ") == 50
    cursor = first.split("cursor=")[1].split('"')[0]
    rest = text(visit("operator").get("/sessions", cursor=cursor))
    assert all(f"n-{n:02}" in rest for n in range(3))


def test_a_session_is_made_and_opened(visit: Visit) -> None:
    made = visit("operator").post("/sessions/new", agent_id="demo", session_id="new-1", user_id="")
    session = AgentSession.objects.get(session_id="new-1")
    assert (made.status_code, made["Location"]) == (302, f"/sessions/{session.id}")
    assert session.user_id is None
    assert "new-1" in text(visit("operator").get(made["Location"]))


def test_an_agent_that_nobody_has_defined_is_asked_about_once(visit: Visit) -> None:
    olga = visit("operator")
    asked = olga.post("/sessions/new", agent_id="nope", session_id="n-1")
    assert asked.status_code == 422
    assert 'id="id_agent_id-error"' in html(asked)
    assert "No agent of this name is defined here" in text(asked)
    assert not AgentSession.objects.exists()
    other = olga.post("/sessions/new", agent_id="nope2", session_id="n-1", confirmed_agent="nope")
    assert other.status_code == 422
    made = olga.post("/sessions/new", agent_id="nope", session_id="n-1", confirmed_agent="nope")
    assert made.status_code == 302
    assert AgentSession.objects.get().agent_id == "nope"


def test_a_taken_name_is_said_at_its_field_and_leads_to_the_session(visit: Visit) -> None:
    thread = new_thread(session_id="taken", user_id=None)
    page = visit("operator").post("/sessions/new", agent_id="demo", session_id="taken")
    assert page.status_code == 409
    assert 'id="id_session_id-error"' in html(page)
    assert f'href="/sessions/{thread.session_id}"' in html(page)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("agent_id", ""),
        ("agent_id", "x" * 257),
        ("session_id", "x" * 257),
        ("user_id", "x" * 257),
        ("session_id", "\u202e"),
    ],
)
def test_a_wrong_field_is_named_and_the_others_stay(visit: Visit, field: str, value: str) -> None:
    fields: dict[str, Any] = {
        "agent_id": "demo",
        "session_id": "kept-1",
        "user_id": "kept-2",
        field: value,
    }
    page = visit("operator").post("/sessions/new", **fields)
    assert page.status_code == 422
    assert f'id="id_{field}-error"' in html(page)
    kept = "kept-2" if field != "user_id" else "kept-1"
    assert f'value="{kept}"' in html(page)
    assert not AgentSession.objects.exists()


def test_the_states_are_counted_only_so_far_and_say_so(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.selectors.listing.COUNTED", 2)
    monkeypatch.setattr("sessions_app.pages.listing.COUNTED", 2)
    for n in range(3):
        new_thread(session_id=f"n-{n}")
    AgentSession.objects.filter(session_id="n-0").update(status="failed")
    shown = text(visit("operator").get("/sessions"))
    assert re.search(r"All 2\+ ?Failed 1 ?Idle 2\b(?!\+)", shown)
    new_thread(session_id="n-3")
    assert re.search(r"All 2\+ ?Failed 1 ?Idle 2\+", text(visit("operator").get("/sessions")))
