"""The API knows nobody, somebody, and who may: 401, 403, and 404 for what is foreign."""

from collections.abc import Callable

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from agentadmin.audit import later
from agentadmin.audit.models import AuditEntry
from tests.access.conftest import Bearer, last_entry

pytestmark = pytest.mark.django_db
ROW = "018f0000-0000-7000-8000-000000000001"
CLEAR = f"/api/v1/rows/{ROW}/clear?number=1"


@pytest.mark.usefixtures("site")
def test_nobody_is_asked_to_sign_in_whatever_they_try() -> None:
    for answer in (Client().get("/api/v1/rows"), Client(enforce_csrf_checks=True).post(CLEAR)):
        assert answer.status_code == 401
        assert answer.json()["code"] == "not_authenticated"
    assert Client().get("/api/v1/open").json() == {"open": True}


def test_a_viewer_cannot_clear_and_the_answer_names_the_permission(bearer: Bearer) -> None:
    viewer = bearer("viewer")
    assert viewer.get("/api/v1/rows").json() == {"name": "viewer"}
    answer = viewer.post(CLEAR)
    assert answer.status_code == 403
    assert answer.json()["permission"] == "sessions:clear"
    assert answer.json()["code"] == "forbidden"


def test_the_permission_is_checked_before_the_body(bearer: Bearer) -> None:
    assert bearer("viewer").post("/api/v1/rows/x/clear?number=many").status_code == 403
    assert bearer("operator").post("/api/v1/rows/x/clear?number=many").status_code == 422


def test_an_operator_clears_and_a_stranger_finds_nothing(bearer: Bearer) -> None:
    assert bearer("operator").post(CLEAR).json() == {"cleared": ROW}
    answer = bearer("stranger").post(CLEAR)
    assert answer.status_code == 404
    assert "team-b" not in answer.content.decode()


def test_a_bound_token_finds_its_own_users_rows_only(bearer: Bearer) -> None:
    assert bearer("operator", bound_user_id="bob").post(CLEAR).status_code == 200
    assert bearer("operator", bound_user_id="carol").post(CLEAR).status_code == 404


@pytest.mark.parametrize(
    ("name", "action", "code", "target"),
    [
        ("viewer", "clear", "forbidden", f"row:{ROW}"),
        ("stranger", "clear", "not_found", f"row:{ROW}"),
    ],
)
def test_every_refusal_leaves_one_entry_with_who_and_what(
    bearer: Bearer, name: str, action: str, code: str, target: str
) -> None:
    bearer(name).post(CLEAR)
    entry = last_entry()
    assert (entry.actor, entry.action, entry.outcome, entry.target) == (
        name,
        action,
        "denied",
        target,
    )
    assert f'"code":"{code}"' in (entry.body or "")
    assert AuditEntry.objects.filter(outcome="denied").count() == 1


def test_a_refusal_names_the_operation_of_its_method_not_another_of_its_address(
    bearer: Bearer,
) -> None:
    assert bearer("viewer").post("/api/v1/pair").status_code == 403
    assert last_entry().action == "make_pair"


def test_an_unknown_visitor_leaves_no_entry(site: None) -> None:
    Client().post(CLEAR)
    assert not later.discard()


def test_a_session_needs_its_csrf_token_to_write(
    signed_in: Callable[[str], Client],
) -> None:
    browser = signed_in("operator")
    assert browser.get("/api/v1/me").json()["kind"] == "user"
    answer = browser.post(CLEAR)
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    browser.cookies["csrftoken"] = "a" * 32
    answer = browser.post(CLEAR, headers={"X-CSRFToken": "a" * 32})
    assert answer.status_code == 200


def test_a_token_needs_no_csrf_token(bearer: Bearer) -> None:
    client = bearer("operator")
    client.handler.enforce_csrf_checks = True
    assert client.post(CLEAR).status_code == 200


@pytest.mark.usefixtures("people", "site")
@pytest.mark.parametrize("header", ["Bearer aa_wrong", "Bearer", "Basic YTpi", "", "Bearer \xff"])
def test_a_token_that_is_none_is_refused_without_falling_back_to_the_session(header: str) -> None:
    client = Client(headers={"Authorization": header})
    answer = client.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_invalid")


def test_an_operation_that_declares_nothing_answers_nobody(bearer: Bearer) -> None:
    with pytest.raises(ImproperlyConfigured):
        bearer("admin").get("/api/v1/forgotten")


def test_an_inactive_user_is_nobody(bearer: Bearer, people: dict[str, object]) -> None:
    client = bearer("operator")
    user = people["operator"]
    user.is_active = False  # type: ignore[attr-defined]
    user.save()  # type: ignore[attr-defined]
    assert client.get("/api/v1/me").status_code == 401
