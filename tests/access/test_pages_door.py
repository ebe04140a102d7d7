"""Pages send nobody to sign in, refuse whoever may not, and turn errors into pages."""

from collections.abc import Callable

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient, Client

from tests.access.conftest import last_entry

pytestmark = pytest.mark.django_db
Browser = Callable[[str], Client]


@pytest.mark.usefixtures("site")
def test_nobody_is_sent_to_sign_in_and_back_again() -> None:
    answer = Client().get("/page?tab=2")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in?next=%2Fpage%3Ftab%3D2"


@pytest.mark.usefixtures("site")
def test_htmx_is_told_to_leave_the_page() -> None:
    answer = Client().get("/page", headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert answer["HX-Redirect"].startswith("/sign-in?next=")


def test_the_three_people_see_what_they_may(signed_in: Browser) -> None:
    assert signed_in("operator").get("/page").content == b"for operator"
    assert signed_in("viewer").get("/page").content == b"for viewer"
    assert signed_in("operator").get("/class-page").content == b"audit"


def test_a_missing_permission_is_a_page_and_an_entry(signed_in: Browser) -> None:
    answer = signed_in("viewer").get("/class-page")
    assert answer.status_code == 403
    assert b"You may not do this" in answer.content
    assert b"This needs the permission audit:read" in answer.content
    entry = last_entry()
    assert (entry.actor, entry.action, entry.outcome) == ("viewer", "class_page", "denied")
    assert '"permission":"audit:read"' in (entry.body or "")


def test_a_page_that_declares_nothing_answers_nobody(signed_in: Browser) -> None:
    with pytest.raises(ImproperlyConfigured):
        signed_in("admin").get("/undeclared")


def test_an_error_of_the_tree_is_a_page_with_its_status(signed_in: Browser) -> None:
    answer = signed_in("viewer").get("/failing/conflict")
    assert answer.status_code == 409
    assert b"The present state does not allow this." in answer.content


def test_a_page_that_widens_asks_for_the_password_and_keeps_the_form(signed_in: Browser) -> None:
    browser = signed_in("operator")
    browser.cookies["csrftoken"] = "a" * 32
    form = {"reason": "because", "mode": ["a", "b"]}
    answer = browser.post("/failing/widen", form, headers={"X-CSRFToken": "a" * 32})
    assert answer.status_code == 403
    assert b'name="reason" value="because"' in answer.content
    assert answer.content.count(b'name="mode"') == 2
    assert b'name="next" value="/failing/widen"' in answer.content


@pytest.mark.django_db(transaction=True)
async def test_the_doors_are_the_same_under_an_asynchronous_server(site: None) -> None:
    client = AsyncClient()
    assert (await client.get("/page")).status_code == 302
    assert (await client.get("/api/v1/rows")).status_code == 401
    assert (await client.get("/api/v1/open")).status_code == 200
