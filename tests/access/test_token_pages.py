"""The pages of tokens and the profile: made, shown once, revoked; passwords; other browsers."""

import re
from typing import Any

import pytest
from django.test import Client

from agentadmin.access.models import ApiToken
from agentadmin.access.services import grant_role
from agentadmin.access.tokens import create_token, scopes_of
from tests.access.conftest import PASSWORD, SYSTEM, People, last_entry

pytestmark = pytest.mark.django_db
NEW = {"name": "CI", "days": "7", "scopes": ["sessions:read"]}
WHY = "It is no longer needed."


@pytest.fixture
def operator(people: People) -> Client:
    client = Client()
    assert (
        client.post("/sign-in", {"username": "operator", "password": PASSWORD}).status_code == 302
    )
    return client


def test_a_token_is_made_and_its_secret_shown_once(operator: Client) -> None:
    answer = operator.post("/me/tokens/new", NEW)
    found = re.search(r"aa_[\w-]{40,}", answer.content.decode())
    assert (answer.status_code, bool(found)) == (201, True)
    assert "no-store" in answer["Cache-Control"]
    page = operator.get("/me/tokens").content.decode()
    assert "CI" in page
    assert found
    assert found[0] not in page
    headers = {"Authorization": f"Bearer {found[0]}"}
    assert Client(headers=headers).get("/api/v1/sessions").status_code == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"days": "91"}, "id_days"),
        ({"days": "x"}, "id_days"),
        ({"scopes": []}, "id_scopes"),
        ({"scopes": ["sessions:fly"]}, "id_scopes"),
        ({"name": ""}, "id_name"),
        ({"bound_user_id": "a\x00b"}, "id_bound"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_lost(
    operator: Client, change: dict[str, Any], field: str
) -> None:
    answer = operator.post("/me/tokens/new", {**NEW, "name": "Kept name", **change})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="{field}-error"' in page
    assert "Kept name" in page or "name" in change
    assert not ApiToken.objects.exists()


def test_a_token_that_may_widen_needs_the_password_again(people: People) -> None:
    client = Client()
    client.force_login(people["operator"])
    given = NEW | {"scopes": ["permissions:widen"]}
    assert client.post("/me/tokens/new", given).status_code == 403
    assert client.post("/me/tokens/new", given | {"password": "wrong"}).status_code == 403
    assert not ApiToken.objects.exists()
    assert client.post("/me/tokens/new", given | {"password": PASSWORD}).status_code == 201
    assert scopes_of(ApiToken.objects.get()) == {"permissions:widen"}


def test_revoking_asks_for_a_reason_and_keeps_it(operator: Client, people: People) -> None:
    made = create_token(actor=SYSTEM, user=people["operator"])
    url = f"/me/tokens/{made.token.pk}/revoke"
    assert "Revoke the token" in operator.get(url).content.decode()
    assert operator.post(url, {"reason": "no"}).status_code == 422
    assert operator.post(url, {"reason": WHY}).status_code == 302
    assert (last_entry().action, last_entry().reason) == ("tokens.revoke", WHY)
    headers = {"Authorization": f"Bearer {made.secret}"}
    assert Client(headers=headers).get("/api/v1/sessions").json()["code"] == "token_revoked"
    foreign = create_token(actor=SYSTEM, user=people["viewer"]).token
    assert operator.get(f"/me/tokens/{foreign.pk}/revoke").status_code == 404
    gone = operator.post(url, {"reason": WHY}, headers={"HX-Request": "true"})
    assert gone["HX-Redirect"] == "/me/tokens"


def test_the_profile_says_who_one_is_and_where_one_may_what(
    operator: Client, people: People
) -> None:
    grant_role(actor=SYSTEM, user=people["operator"], role="viewer", namespace="b", agent="demo")
    page = operator.get("/me").content.decode()
    assert "namespace team-*, every agent" in page
    assert "namespace b, agent demo" in page
    assert "not: Manage users and their roles" in page


def test_a_new_password_signs_out_the_other_browsers(operator: Client, people: People) -> None:
    other = Client()
    other.force_login(people["operator"])
    given = {"current": PASSWORD, "new": "quite another 9", "again": "quite another 9"}
    wrong = operator.post("/me/password", given | {"current": "wrong"})
    assert (wrong.status_code, 'id="id_current-error"' in wrong.content.decode()) == (403, True)
    differs = operator.post("/me/password", given | {"again": "x"})
    assert (differs.status_code, 'id="id_again-error"' in differs.content.decode()) == (422, True)
    weak = operator.post("/me/password", given | {"new": "123", "again": "123"})
    assert (weak.status_code, 'id="id_new-error"' in weak.content.decode()) == (422, True)
    assert other.get("/me").status_code == 200
    assert operator.post("/me/password", given).status_code == 302
    assert operator.get("/me").status_code == 200
    assert other.get("/me").status_code == 302
    assert last_entry().action == "access.change_password"


def test_one_browser_signs_out_another(operator: Client, people: People) -> None:
    other, stranger = Client(), Client()
    stranger.force_login(people["viewer"])
    agent = {"User-Agent": "Another browser 1.0"}
    other.post("/sign-in", {"username": "operator", "password": PASSWORD}, headers=agent)
    page = operator.get("/me").content.decode()
    assert "Another browser 1.0" in page
    (url,) = re.findall(r'action="(/me/sign-ins/[^"]+)"', page)
    assert stranger.post(url).status_code == 302
    assert other.get("/me").status_code == 200
    assert operator.post(url).status_code == 302
    assert other.get("/me").status_code == 302
    assert operator.get("/me").status_code == 200
