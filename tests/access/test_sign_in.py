"""Signing in is throttled, rotates the session, goes back safely, and is audited."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.test.client import RequestFactory

from agentadmin.access import throttle
from agentadmin.access.authentication import actor_from_scope
from agentadmin.access.models import SignInThrottle
from agentadmin.audit.models import AuditEntry
from agentadmin.engine.clock import now
from agentadmin.engine.errors import RateLimited
from tests.access.conftest import PASSWORD, last_entry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people", "site")]


def sign_in(client: Client, name: str = "operator", password: str = PASSWORD, next_: str = ""):  # type: ignore[no-untyped-def]
    form = {"username": name, "password": password, "next": next_}
    return client.post("/sign-in", form)


def test_the_form_leads_on_to_the_page_that_was_wanted() -> None:
    client = Client()
    assert client.get("/sign-in?next=/page").status_code == 200
    answer = sign_in(client, next_="/page")
    assert (answer.status_code, answer["Location"]) == (302, "/page")
    assert client.get("/page").content == b"for operator"


@pytest.mark.parametrize(
    "next_",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t//x"],
)
def test_it_never_leads_to_another_site(next_: str) -> None:
    assert sign_in(Client(), next_=next_)["Location"] == "/"


def test_a_session_gets_a_new_key_at_sign_in_and_ends_at_sign_out() -> None:
    client = Client()
    session = client.session
    session["planted"] = True
    session.save()
    before = client.session.session_key
    sign_in(client)
    after = client.session.session_key
    assert before != after
    scope = {"cookies": {"sessionid": after}}
    assert actor_from_scope(scope).name == "operator"
    assert client.get("/sign-out").status_code == 405
    assert client.post("/sign-out")["Location"] == "/sign-in"
    assert not actor_from_scope(scope).is_authenticated
    assert last_entry().action == "access.sign_out"


def test_a_wrong_password_and_an_unknown_name_read_the_same() -> None:
    known, unknown = sign_in(Client(), password="wrong"), sign_in(Client(), name="nobody")
    assert known.status_code == unknown.status_code == 401
    for answer in (known, unknown):
        assert b"User name or password is wrong." in answer.content


def test_a_failed_sign_in_is_anonymous_with_the_claimed_name_in_what_can_be_erased() -> None:
    sign_in(Client(), name="MARKER", password="wrong")
    entry = last_entry()
    assert (entry.chain, entry.actor, entry.outcome) == ("system", "anonymous", "failed")
    assert entry.target_label == "MARKER"
    assert "MARKER" not in entry.header


def test_signing_in_is_audited() -> None:
    sign_in(Client())
    entry = last_entry()
    assert (entry.action, entry.actor, entry.outcome) == ("access.sign_in", "operator", "allowed")


def test_after_five_wrong_passwords_even_the_right_one_waits() -> None:
    client = Client()
    for _ in range(5):
        assert sign_in(client, password="wrong").status_code == 401
    answer = sign_in(client)
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert b"Too many attempts" in answer.content
    assert last_entry().outcome == "denied"
    assert sign_in(client, name="OPERATOR").status_code == 429
    assert sign_in(client, name="viewer").status_code == 302


def test_the_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(6):
        sign_in(Client(), password="wrong")

    def later() -> datetime:
        return now() + throttle.WINDOW + timedelta(seconds=1)

    monkeypatch.setattr(throttle, "now", later)
    assert sign_in(Client()).status_code == 302


def test_a_success_forgives_the_attempts_before_it() -> None:
    for _ in range(3):
        for _ in range(4):
            sign_in(Client(), password="wrong")
        assert sign_in(Client()).status_code == 302


def test_one_address_cannot_try_all_names() -> None:
    for number in range(throttle.LIMITS["address"]):
        throttle.count_attempt(f"name-{number}", "192.0.2.1")
    with pytest.raises(RateLimited):
        throttle.count_attempt("another", "192.0.2.1")
    throttle.count_attempt("another", "192.0.2.2")


def test_the_counters_hold_no_names() -> None:
    sign_in(Client(), name="MARKER", password="wrong")
    keys = SignInThrottle.objects.values_list("key", flat=True)
    assert len(keys) == 3
    assert not any("MARKER" in key for key in keys)


@pytest.mark.parametrize("form", [{}, {"username": "operator"}, {"username": "", "password": ""}])
def test_an_incomplete_form_is_shown_again(form: dict[str, str]) -> None:
    assert Client().post("/sign-in", form).status_code == 422
    assert not AuditEntry.objects.filter(action="access.sign_in").exists()


@pytest.mark.parametrize("name", ["\0", "\x00' OR 1=1 --", "a" * 151, "<script>", "\u202eadmin"])
def test_hostile_names_are_refused_like_any_other(name: str) -> None:
    assert sign_in(Client(), name=name, password="x").status_code in {401, 422}


def test_sign_in_is_refused_without_a_csrf_token() -> None:
    assert sign_in(Client(enforce_csrf_checks=True)).status_code == 403


@pytest.mark.parametrize("next_", ["abc", "0", "'", "🙂", "x" * 500, "sign_out"])
def test_a_bare_word_is_no_address_to_go_on_to(next_: str) -> None:
    client = Client()
    assert sign_in(client, next_=next_)["Location"] == "/"
    assert client.get("/sign-in", {"next": next_})["Location"] == "/"


def test_whoever_is_signed_in_goes_on(rf: RequestFactory) -> None:
    client = Client()
    sign_in(client)
    assert client.get("/sign-in?next=/page")["Location"] == "/page"
